//! The sizes of all parts of a chart's panels. All panels of a chart share one layout, so that their axes line up.

use super::chart::{Chart, ChartPanel, Mark};
use super::ranges::{Ranges, ranges};
use super::scale::Scale;
use super::text::{shorten, width, wrap};

/// Size of most texts, in pixels.
pub(super) const SMALL: f64 = 11.0;
const TITLE: f64 = 13.0;
/// The distance between the border and what is drawn.
pub(super) const MARGIN: f64 = 12.0;
const NARROW: f64 = 340.0;
const WIDE: f64 = 700.0;
const PLOT_HEIGHT: f64 = 176.0;
/// The height of a line of text.
pub(super) const LINE: f64 = 14.0;
/// The greatest width of a category's name.
const LONGEST_NAME: f64 = 110.0;
/// The angle of category names that do not fit side by side, in degrees.
const SLANT: f64 = -40.0;

/// The positions of a panel's parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// Edges of the plot.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// The number of lines in the headers: as many as the panel with the most lines needs.
    pub(super) title_lines: usize,
    pub(super) note_lines: usize,
    pub(super) label_lines: usize,
}

/// How the category names of a horizontal axis are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CategoryNames {
    /// The angle in degrees; `None` for horizontal text.
    pub(super) turn: Option<f64>,
    /// The greatest width of a name.
    pub(super) max_width: f64,
    /// One name in this many is written.
    pub(super) every: usize,
}

impl Layout {
    /// The layout that the chart's panels need.
    pub(super) fn of(chart: &Chart) -> Self {
        let panels = &chart.panels;
        let width = if panels.iter().any(crowded) { WIDE } else { NARROW };
        let wide =
            |max_width: f64| panels.iter().flat_map(y_names).map(move |name| self::width(&name, SMALL).min(max_width));
        let slanted = panels.iter().any(|panel| !side_by_side(panel, width - 60.0));
        let names = wide(LONGEST_NAME).fold(if slanted { 46.0 } else { 24.0 }, f64::max);
        let (left, right) = (names + 12.0, width - MARGIN);
        let mut layout = Self {
            width,
            height: 0.0,
            left,
            right,
            top: 0.0,
            bottom: 0.0,
            title_lines: 1,
            note_lines: 0,
            label_lines: 0,
        };
        let most = |lines: &dyn Fn(&ChartPanel) -> usize| panels.iter().map(lines).max().unwrap_or(0);
        layout.title_lines = most(&|panel| layout.title(panel).len());
        layout.note_lines = most(&|panel| layout.note_below(panel).len());
        layout.label_lines = most(&|panel| layout.y_label(panel).len());
        layout.top = 10.0 + 16.0 * layout.title_lines as f64 + LINE * (layout.note_lines + layout.label_lines) as f64;
        layout.bottom = layout.top + panels.iter().map(rows_height).fold(PLOT_HEIGHT, f64::max);
        let under = panels.iter().map(|panel| layout.names_height(panel)).fold(LINE, f64::max);
        layout.height = layout.bottom + 8.0 + under + LINE * most(&|panel| layout.x_label(panel).len()) as f64 + 4.0;
        layout
    }

    /// True where panels are too wide to be side by side.
    pub(super) fn is_wide(&self) -> bool {
        self.width > NARROW
    }

    /// The panel's heading in lines.
    pub(super) fn title(&self, panel: &ChartPanel) -> Vec<String> {
        wrap(&panel.title, TITLE, self.width - 2.0 - MARGIN, 2)
    }

    /// True where the note fits beside the title.
    pub(super) fn note_beside(&self, panel: &ChartPanel) -> bool {
        let title = width(&panel.title, TITLE);
        title + 14.0 + width(&panel.note, SMALL) <= self.width - MARGIN
    }

    /// The lines of the note below the title, if it does not fit beside it.
    pub(super) fn note_below(&self, panel: &ChartPanel) -> Vec<String> {
        if self.note_beside(panel) { Vec::new() } else { wrap(&panel.note, SMALL, self.width - MARGIN, 3) }
    }

    /// The lines of the vertical axis's label, above the axis.
    pub(super) fn y_label(&self, panel: &ChartPanel) -> Vec<String> {
        wrap(&panel.y.label, SMALL, self.width - MARGIN, 3)
    }

    /// The lines of the horizontal axis's label, below the axis.
    pub(super) fn x_label(&self, panel: &ChartPanel) -> Vec<String> {
        wrap(&panel.x.label, SMALL, self.width - MARGIN, 2)
    }

    /// The panel's scales.
    pub(super) fn scales(&self, panel: &ChartPanel) -> (Scale, Scale) {
        let Ranges { x, y } = ranges(panel);
        let scale = |logarithmic, range, places| match logarithmic {
            true => Scale::logarithmic(range, places),
            false => Scale::new(range, places),
        };
        let upright = if panel.y.categories.is_empty() { (self.bottom, self.top) } else { (self.top, self.bottom) };
        let powers = |axis: &super::Axis| axis.logarithmic && axis.categories.is_empty();
        (scale(powers(&panel.x), x, (self.left, self.right)), scale(powers(&panel.y), y, upright))
    }

    /// How the category names below the panel are written.
    pub(super) fn names(&self, panel: &ChartPanel) -> CategoryNames {
        let slot = (self.right - self.left) / panel.x.categories.len().max(1) as f64;
        if side_by_side(panel, self.right - self.left) {
            return CategoryNames { turn: None, max_width: LONGEST_NAME.max(slot), every: 1 };
        }
        // Slanted names extend to the left, the first one beyond the axis.
        let before = (self.left + slot / 2.0 - 2.0) / SLANT.to_radians().cos();
        if slot >= 18.0 {
            return CategoryNames { turn: Some(SLANT), max_width: before.min(LONGEST_NAME), every: 1 };
        }
        CategoryNames { turn: Some(-90.0), max_width: LONGEST_NAME, every: (12.5 / slot).ceil().max(1.0) as usize }
    }

    fn names_height(&self, panel: &ChartPanel) -> f64 {
        let names = self.names(panel);
        let longest = panel.x.categories.iter().map(|name| width(&shorten(name, SMALL, names.max_width), SMALL));
        let longest = longest.fold(0.0, f64::max);
        names.turn.map_or(LINE, |turn| longest * turn.to_radians().sin().abs() + LINE)
    }
}

/// The height that the rows of a matrix need.
fn rows_height(panel: &ChartPanel) -> f64 {
    let is_matrix = panel.marks.iter().any(|mark| matches!(mark, Mark::Cell { .. }));
    if is_matrix { (LINE + 2.0) * panel.y.categories.len() as f64 } else { 0.0 }
}

/// True where the category names of the horizontal axis fit side by side.
fn side_by_side(panel: &ChartPanel, available: f64) -> bool {
    let slot = available / panel.x.categories.len().max(1) as f64;
    panel.x.categories.iter().all(|name| width(name, SMALL) + 8.0 <= slot)
}

/// True where a panel has too many bars or categories for a narrow layout.
fn crowded(panel: &ChartPanel) -> bool {
    let takes_slot = |mark: &&Mark| matches!(mark, Mark::Bar { .. } | Mark::Box { .. });
    panel.x.categories.len() > 16 || panel.marks.iter().filter(takes_slot).count() > 36
}

/// The texts to the left of the vertical axis.
fn y_names(panel: &ChartPanel) -> Vec<String> {
    if panel.y.categories.is_empty() {
        let Ranges { y, .. } = ranges(panel);
        let scale = if panel.y.logarithmic { Scale::logarithmic(y, (0.0, 1.0)) } else { Scale::new(y, (0.0, 1.0)) };
        scale.ticks(Y_TICKS).into_iter().map(|(_, text)| text).collect()
    } else {
        panel.y.categories.clone()
    }
}

/// The approximate number of ticks of a vertical axis.
pub(super) const Y_TICKS: usize = 5;

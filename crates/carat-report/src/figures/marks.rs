//! Draws the marks of a panel.

use super::chart::{ChartPanel, Mark};
use super::layout::{LINE, SMALL};
use super::scale::Scale;
use super::svg::Canvas;
use super::text::width;

/// Draws marks on a canvas with two scales.
pub(super) struct Pen<'a> {
    pub(super) canvas: &'a mut Canvas,
    pub(super) x: Scale,
    pub(super) y: Scale,
    slots: Slots,
    /// The positions of dots, which texts should not hide.
    dots: Vec<(f64, f64)>,
    /// Heights and texts of levels.
    levels: Vec<(f64, String)>,
    /// The number of marks outside the axes.
    outside: usize,
}

/// The class that gives a series its colour.
pub(super) fn series_class(series: usize) -> String {
    /// The number of colours in the style sheet.
    const COLOURS: usize = 8;
    format!("series-{}", series % COLOURS)
}

impl<'a> Pen<'a> {
    /// A pen for a panel's marks.
    pub(super) fn new(canvas: &'a mut Canvas, panel: &ChartPanel, (x, y): (Scale, Scale)) -> Self {
        Self { canvas, x, y, slots: Slots::of(panel, &x), dots: Vec::new(), levels: Vec::new(), outside: 0 }
    }

    /// Draws a mark.
    pub(super) fn draw(&mut self, mark: &Mark) {
        match mark {
            Mark::Dot { at: (x, y), series, radius, tip } => {
                let radius = if radius.is_finite() { radius.clamp(0.5, 20.0) } else { 3.0 };
                if self.x.contains(*x) && self.y.contains(*y) {
                    let place = (self.x.position(*x) + self.slots.dot_offset(*series), self.y.position(*y));
                    self.dots.push(place);
                    self.canvas.dot(&series_class(*series), place, radius, tip);
                } else {
                    self.outside += 1;
                }
            }
            Mark::Bar { at, series, tip } => self.bar(*at, *series, tip),
            Mark::Line { points, series, tip } => self.line(points, &series_class(*series), tip),
            Mark::Guide { points, name } => self.line(points, "reference", name),
            Mark::Box { at, values, series, tip } => {
                let drawable = values.iter().all(|value| value.is_finite() && self.reaches(*value));
                let touches = values[0] <= self.y.range().1 && values[4] >= self.y.range().0;
                if self.x.contains(*at) && drawable && touches {
                    let (half, aside) = (self.slots.half_width(13.0), self.slots.offset(*series));
                    let places = values.map(|value| self.y.position(value));
                    self.canvas.quartiles(&series_class(*series), self.x.position(*at) + aside, places, half, tip);
                } else {
                    self.outside += 1;
                }
            }
            Mark::Interval { at, range: (from, to), series, tip } => {
                let (low, high) = self.y.range();
                let touches = from.max(*to) >= low && from.min(*to) <= high;
                if self.x.contains(*at) && from.is_finite() && to.is_finite() && touches {
                    let x = self.x.position(*at) + self.slots.dot_offset(*series);
                    let ends = (self.y.position(*from), self.y.position(*to));
                    self.canvas.interval(&series_class(*series), x, ends, self.slots.half_width(4.0), tip);
                } else {
                    self.outside += 1;
                }
            }
            Mark::Cell { at, share, text, tip } => self.cell(*at, *share, text, tip),
            Mark::Diagonal => self.diagonal(),
            Mark::Level(value, label) => self.level(*value, label),
        }
    }

    /// Writes the texts on top of all marks, and returns the number of marks outside the axes.
    pub(super) fn finish(self) -> usize {
        let mut taken: Vec<Label> = Vec::new();
        for (height, text) in &self.levels {
            let label = self.label(*height, text, &taken);
            self.canvas.text("level", (label.left, label.base), text);
            taken.push(label);
        }
        self.outside
    }

    /// True where the axis can show the value: one of powers of ten shows only positive values.
    fn reaches(&self, value: f64) -> bool {
        !self.y.is_logarithmic() || value > 0.0
    }

    fn bar(&mut self, (x, value): (f64, f64), series: usize, tip: &str) {
        let base = if self.y.is_logarithmic() { self.y.range().0 } else { 0.0 };
        let (from, to) = (self.y.position(base), self.y.position(value));
        let clipped = (from - to).abs() < 0.05 && value != base && !self.y.contains(value);
        if !self.x.contains(x) || !value.is_finite() || !self.reaches(value) || clipped {
            self.outside += 1;
            return;
        }
        // A bar without height gets one pixel, so that it can be pointed at.
        let to = if (from - to).abs() < 1.0 { from - 1.0 } else { to };
        let (centre, half) = (self.x.position(x) + self.slots.offset(series), self.slots.half_width(26.0));
        let class = format!("bar {}", series_class(series));
        self.canvas.bar(&class, [(centre - half, to), (centre + half, from)], tip);
    }

    /// Fills the place of two categories, and writes the text where it fits.
    fn cell(&mut self, (column, row): (usize, usize), share: f64, text: &str, tip: &str) {
        let (x, y) = (column as f64, row as f64);
        if !self.x.contains(x) || !self.y.contains(y) {
            self.outside += 1;
            return;
        }
        let corners = [(x - 0.5, y - 0.5), (x + 0.5, y + 0.5)].map(|(x, y)| (self.x.position(x), self.y.position(y)));
        self.canvas.cell(corners, share.clamp(0.0, 1.0), tip);
        let [(left, top), (right, bottom)] = corners;
        if width(text, SMALL) + 2.0 <= right - left && bottom - top >= SMALL {
            self.canvas.text("name middle", ((left + right) / 2.0, (top + bottom) / 2.0 + 4.0), text);
        }
    }

    /// Draws a line. It breaks where it leaves the axes, and a single point becomes a dot.
    fn line(&mut self, points: &[(f64, f64)], class: &str, tip: &str) {
        let (x, y) = (self.x, self.y);
        let numbers: Vec<(f64, f64)> =
            points.iter().copied().filter(|point| point.0.is_finite() && point.1.is_finite()).collect();
        for run in numbers.chunk_by(|a, b| (x.contains(a.0) && y.contains(a.1)) == (x.contains(b.0) && y.contains(b.1)))
        {
            let places: Vec<(f64, f64)> = run.iter().map(|point| (x.position(point.0), y.position(point.1))).collect();
            match (run, places.as_slice()) {
                ([(first_x, first_y), ..], _) if !x.contains(*first_x) || !y.contains(*first_y) => {
                    self.outside += run.len()
                }
                (_, [place]) => self.canvas.dot(class, *place, 2.5, tip),
                (_, places) => self.canvas.line(class, places, tip),
            }
        }
        self.outside += points.len() - numbers.len();
    }

    fn diagonal(&mut self) {
        let ((x_low, x_high), (y_low, y_high)) = (self.x.range(), self.y.range());
        let (low, high) = (x_low.max(y_low), x_high.min(y_high));
        if low >= high {
            return;
        }
        // Between a linear axis and one of powers of ten, the diagonal is a curve.
        let pieces = if self.x.is_logarithmic() == self.y.is_logarithmic() { 1 } else { 48 };
        let values = (0..=pieces).map(|piece| low + (high - low) * f64::from(piece) / f64::from(pieces));
        let places: Vec<(f64, f64)> = values.map(|value| (self.x.position(value), self.y.position(value))).collect();
        self.canvas.path("reference", &places);
    }

    fn level(&mut self, value: f64, label: &str) {
        if !self.y.contains(value) {
            self.outside += 1;
            return;
        }
        let ((left, right), y) = (self.edges(), self.y.position(value));
        self.canvas.path("reference", &[(left, y), (right, y)]);
        if !label.is_empty() {
            self.levels.push((y, label.to_string()));
        }
    }

    /// The best of four positions for a level's text: inside the panel, clear of other texts, over as few dots as
    /// possible.
    fn label(&self, height: f64, text: &str, taken: &[Label]) -> Label {
        let ((left, right), wide) = (self.edges(), width(text, SMALL));
        let places = [(right - wide, -4.0), (right - wide, 12.0), (left + 4.0, -4.0), (left + 4.0, 12.0)];
        let labels = places.map(|(left, under)| Label { left, right: left + wide, base: height + under });
        let cost = |label: &Label| {
            let crossed = taken.iter().any(|other| label.meets(other)) || !self.within(label.base);
            let covered = self.dots.iter().filter(|dot| label.covers(**dot)).count();
            if crossed { usize::MAX } else { covered }
        };
        let [first, others @ ..] = labels;
        others.into_iter().fold(first, |best, label| if cost(&label) < cost(&best) { label } else { best })
    }

    fn edges(&self) -> (f64, f64) {
        let (low, high) = self.x.range();
        (self.x.position(low), self.x.position(high))
    }

    /// True where a text fits between the top and the bottom.
    fn within(&self, height: f64) -> bool {
        let (low, high) = self.y.range();
        let (one, other) = (self.y.position(low), self.y.position(high));
        height - 9.0 >= one.min(other) && height <= one.max(other)
    }
}

/// The position of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Label {
    left: f64,
    right: f64,
    /// Its baseline.
    base: f64,
}

impl Label {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && (self.base - other.base).abs() < LINE - 2.0
    }

    fn covers(&self, (x, y): (f64, f64)) -> bool {
        x > self.left - 4.0 && x < self.right + 4.0 && y > self.base - 13.0 && y < self.base + 5.0
    }
}

/// How series are placed side by side at a category.
#[derive(Debug, Clone, PartialEq)]
struct Slots {
    /// The series in the panel.
    series: Vec<usize>,
    /// The width of each series in pixels.
    width: f64,
    /// True where dots and intervals are shifted like bars.
    shift_dots: bool,
}

impl Slots {
    fn of(panel: &ChartPanel, x: &Scale) -> Self {
        let (mut series, mut places, mut shift_dots) = (Vec::new(), Vec::new(), !panel.x.categories.is_empty());
        for mark in &panel.marks {
            match mark {
                Mark::Bar { at: (at, _), series: one, .. } | Mark::Box { at, series: one, .. } => {
                    series.push((*at, *one));
                    places.push(*at);
                }
                Mark::Dot { at: (at, _), series: one, .. } | Mark::Interval { at, series: one, .. } => {
                    series.push((*at, *one));
                    shift_dots &= at.fract() == 0.0;
                }
                Mark::Line { .. } => shift_dots = false,
                Mark::Cell { .. } | Mark::Guide { .. } | Mark::Diagonal | Mark::Level(..) => {}
            }
        }
        let is_single =
            |(at, one): &(f64, usize)| series.iter().all(|(other_at, other)| other_at != at || other == one);
        let all_single = series.iter().all(is_single);
        let mut series: Vec<usize> = series.into_iter().map(|(_, one)| one).collect();
        series.sort_unstable();
        series.dedup();
        if all_single {
            // No category has two series, so each is centred.
            series.truncate(1);
        }
        places.sort_unstable_by(f64::total_cmp);
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0);
        let unit = if panel.x.categories.is_empty() { gaps.fold(1.0, f64::min) } else { 1.0 };
        let (low, _) = x.range();
        let pixels = (x.position(low + unit) - x.position(low)).abs();
        Self { width: 0.8 * pixels / series.len().max(1) as f64, series, shift_dots }
    }

    /// The distance of a series from the middle of its category.
    fn offset(&self, series: usize) -> f64 {
        let place = self.series.iter().position(|one| *one == series).unwrap_or_default();
        (place as f64 - (self.series.len().max(1) - 1) as f64 / 2.0) * self.width.min(2.0 * 28.0)
    }

    fn dot_offset(&self, series: usize) -> f64 {
        if self.shift_dots { self.offset(series) } else { 0.0 }
    }

    /// Half the width of a mark, at most `most`, with a small gap between neighbours.
    fn half_width(&self, most: f64) -> f64 {
        let width = if self.width > 5.0 { self.width - 1.5 } else { 0.9 * self.width };
        (width / 2.0).clamp(0.5, most)
    }
}

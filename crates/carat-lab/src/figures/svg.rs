//! One panel of a figure: a title, two axes and marks, written as an inline SVG element.

use std::fmt::Write;

use super::scale::Scale;
use crate::page::escape;

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;

/// A panel under construction. Marks are drawn in the order of the calls.
#[derive(Debug)]
pub(super) struct Panel {
    body: String,
    title: String,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

impl Panel {
    /// A panel for these ranges of values.
    pub(super) fn new(title: &str, x: (f64, f64), y: (f64, f64), y_label: &str) -> Self {
        let x = Scale::new(x, (LEFT, WIDTH - RIGHT));
        let y = Scale::new(y, (HEIGHT - BOTTOM, TOP));
        let mut panel = Self { body: String::new(), title: title.to_string(), x, y };
        panel.text(LEFT, 14.0, "title", title);
        panel.text(WIDTH - RIGHT, 14.0, "label end", y_label);
        panel.segment("axis", (LEFT, HEIGHT - BOTTOM), (WIDTH - RIGHT, HEIGHT - BOTTOM));
        panel
    }

    /// Ticks on the y axis, with grid lines.
    pub(super) fn y_axis(&mut self, ticks: &[(f64, String)]) {
        for (value, text) in ticks {
            let place = self.y.place(*value);
            self.segment("grid", (LEFT, place), (WIDTH - RIGHT, place));
            self.text(LEFT - 6.0, place + 4.0, "tick end", text);
        }
    }

    /// Ticks on the x axis, and what it measures.
    pub(super) fn x_axis(&mut self, ticks: &[(f64, String)], label: &str) {
        let base = HEIGHT - BOTTOM;
        for (value, text) in ticks {
            let place = self.x.place(*value);
            self.segment("axis", (place, base), (place, base + 4.0));
            self.text(place, base + 17.0, "tick middle", text);
        }
        self.text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0, "label middle", label);
    }

    /// A dot that tells `tip` when pointed at.
    pub(super) fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64, tip: &str) {
        let (x, y) = (self.x.place(x), self.y.place(y));
        let mark = format!("<circle class=\"{}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"", escape(class));
        self.body.push_str(&format!("{mark}><title>{}</title></circle>", escape(tip)));
    }

    /// A line through values that tells `tip` when pointed at. Points that are no numbers are left out.
    pub(super) fn line(&mut self, class: &str, points: impl Iterator<Item = (f64, f64)>, tip: &str) {
        let mut path = String::new();
        for (x, y) in points.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            let separator = if path.is_empty() { "" } else { " " };
            let _ = write!(path, "{separator}{:.1},{:.1}", self.x.place(x), self.y.place(y));
        }
        let mark = format!("<polyline class=\"line {}\" points=\"{path}\"", escape(class));
        self.body.push_str(&format!("{mark}><title>{}</title></polyline>", escape(tip)));
    }

    /// The SVG element; `description` is for those who cannot see it.
    pub(super) fn finish(self, description: &str) -> String {
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}: {}\">{}</svg>",
            escape(&self.title),
            escape(description),
            self.body
        )
    }

    fn segment(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let class = escape(class);
        let mark = format!("<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
        self.body.push_str(&mark);
    }

    fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let mark = format!("<text class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(class), escape(text));
        self.body.push_str(&mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_hold_numbers_only_and_texts_are_escaped() {
        let mut panel = Panel::new("<gat>", (0.0, 1.0), (0.0, 1.0), "a & b");
        panel.line("series-0", [(0.0, 0.0), (0.5, f64::NAN), (1.0, 1.0)].into_iter(), "1 < 2");
        panel.dot("series-0", (0.5, 0.5), 3.0, "\"");
        let svg = panel.finish("none");
        assert!(svg.contains("points=\"46.0,206.0 330.0,30.0\""), "{svg}");
        assert!(svg.contains("&lt;gat&gt;") && svg.contains("a &amp; b") && svg.contains("1 &lt; 2"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg.matches("<title>").count(), svg.matches("</title>").count());
    }
}

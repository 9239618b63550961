//! Writes SVG elements. A style sheet defines the colours and fonts of their classes.

use std::fmt::Write;

use crate::page::escape;

/// A picture. Elements are in the order of the calls.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
    marks: usize,
}

impl Canvas {
    /// The elements so far.
    pub(super) fn into_body(self) -> String {
        self.body
    }

    /// The number of marks with a tooltip.
    pub(super) fn marks(&self) -> usize {
        self.marks
    }

    /// A straight line without a tooltip.
    pub(super) fn segment(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.body.push_str(&segment(class, from, to));
    }

    /// A line through points, without a tooltip.
    pub(super) fn path(&mut self, class: &str, places: &[(f64, f64)]) {
        let _ = write!(self.body, "<polyline class=\"line {class}\" points=\"{}\"/>", points(places));
    }

    /// A text. Its class decides whether its left end, middle or right end is at the position.
    pub(super) fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let _ = write!(self.body, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
    }

    /// A text that may be shortened. Its tooltip is the whole text.
    pub(super) fn short_text(&mut self, class: &str, (x, y): (f64, f64), shown: &str, whole: &str, turn: Option<f64>) {
        let turn = turn.map_or(String::new(), |turn| format!(" transform=\"rotate({turn:.0} {x:.1} {y:.1})\""));
        let title = if shown == whole { String::new() } else { format!("<title>{}</title>", escape(whole)) };
        let shown = escape(shown);
        let _ = write!(self.body, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{turn}>{title}{shown}</text>");
    }

    /// A dot.
    pub(super) fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64, tip: &str) {
        let attributes = format!(" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"");
        self.mark("circle", class, &attributes, "", tip);
    }

    /// A rectangle between two corners.
    pub(super) fn bar(&mut self, class: &str, corners: [(f64, f64); 2], tip: &str) {
        self.mark("rect", class, &rectangle(corners), "", tip);
    }

    /// A rectangle whose colour is as strong as its share.
    pub(super) fn cell(&mut self, corners: [(f64, f64); 2], share: f64, tip: &str) {
        // Text on the strongest colour must still be legible.
        let attributes = format!("{} fill-opacity=\"{:.3}\"", rectangle(corners), 0.6 * share);
        self.mark("rect", "cell series-1", &attributes, "", tip);
    }

    /// A line through points.
    pub(super) fn line(&mut self, class: &str, places: &[(f64, f64)], tip: &str) {
        self.mark("polyline", &format!("line {class}"), &format!(" points=\"{}\"", points(places)), "", tip);
    }

    /// A vertical stroke with caps.
    pub(super) fn interval(&mut self, class: &str, x: f64, (from, to): (f64, f64), cap: f64, tip: &str) {
        let strokes = [((x, from), (x, to)), ((x - cap, from), (x + cap, from)), ((x - cap, to), (x + cap, to))];
        let strokes: String = strokes.map(|(from, to)| segment("stroke", from, to)).concat();
        self.mark("g", &format!("interval {class}"), "", &strokes, tip);
    }

    /// A box: minimum, quartiles and maximum as vertical positions.
    pub(super) fn quartiles(&mut self, class: &str, x: f64, values: [f64; 5], half: f64, tip: &str) {
        let [minimum, first, median, third, maximum] = values;
        let parts = [
            segment("stroke", (x, minimum), (x, first)),
            segment("stroke", (x, third), (x, maximum)),
            segment("stroke", (x - half / 2.0, minimum), (x + half / 2.0, minimum)),
            segment("stroke", (x - half / 2.0, maximum), (x + half / 2.0, maximum)),
            format!("<rect class=\"stroke\"{}/>", rectangle([(x - half, third), (x + half, first)])),
            segment("stroke median", (x - half, median), (x + half, median)),
        ];
        self.mark("g", &format!("box {class}"), "", &parts.concat(), tip);
    }

    /// An element with the tooltip `tip`. The Tab key stops only at the first mark of a panel, which may have hundreds.
    /// The page's script moves between marks with the arrow keys.
    fn mark(&mut self, element: &str, class: &str, attributes: &str, inner: &str, tip: &str) {
        if tip.is_empty() {
            let _ = write!(self.body, "<{element} class=\"{class}\"{attributes}>{inner}</{element}>");
            return;
        }
        let stop = if self.marks == 0 { "0" } else { "-1" };
        self.marks += 1;
        let _ = write!(
            self.body,
            "<{element} class=\"mark {class}\" tabindex=\"{stop}\" \
             role=\"img\"{attributes}><title>{}</title>{inner}</{element}>",
            escape(tip)
        );
    }
}

fn segment(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> String {
    format!("<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>")
}

fn rectangle([(x1, y1), (x2, y2)]: [(f64, f64); 2]) -> String {
    let (width, height) = ((x2 - x1).abs(), (y2 - y1).abs());
    format!(" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"", x1.min(x2), y1.min(y2))
}

fn points(places: &[(f64, f64)]) -> String {
    places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_tips_are_escaped() {
        let mut canvas = Canvas::default();
        canvas.text("title", (1.0, 2.0), "<gat> & \"b\"");
        canvas.short_text("tick", (1.0, 2.0), "<a…", "<a & b>", Some(-40.0));
        canvas.dot("series-0", (0.5, 0.5), 3.0, "</title><script>alert('1')</script>");
        let body = canvas.into_body();
        assert!(body.contains("&lt;gat&gt; &amp; &quot;b&quot;") && !body.contains("<script"), "{body}");
        assert!(body.contains("rotate(-40 1.0 2.0)\"><title>&lt;a &amp; b&gt;</title>&lt;a…</text>"), "{body}");
        assert_eq!(body.matches("<title>").count(), body.matches("</title>").count());
    }

    #[test]
    fn tab_stops_at_the_first_mark_with_a_tooltip() {
        let mut canvas = Canvas::default();
        canvas.dot("series-0", (0.0, 0.0), 3.0, "");
        canvas.bar("series-0", [(4.0, 9.0), (1.0, 2.0)], "first");
        canvas.line("series-1", &[(0.0, 0.0), (1.0, 1.0)], "second");
        assert_eq!(canvas.marks(), 2);
        let body = canvas.into_body();
        assert_eq!((body.matches("tabindex=\"0\"").count(), body.matches("tabindex=\"-1\"").count()), (1, 1));
        assert!(body.contains("x=\"1.0\" y=\"2.0\" width=\"3.0\" height=\"7.0\"><title>first</title>"), "{body}");
        assert_eq!(body.matches("class=\"mark ").count(), 2);
    }
}

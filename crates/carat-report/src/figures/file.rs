//! A chart as an SVG file, with its own style, title, legend and caption.

use std::fmt::Write;

use super::chart::Chart;
use super::layout::{LINE, Layout, SMALL};
use super::panel;
use super::render::STYLE;
use super::text::{self, wrap};
use crate::page::escape;

const MARGIN: f64 = 20.0;
const GAP: f64 = 24.0;

impl Chart {
    /// The chart as an SVG file.
    pub fn svg(&self) -> String {
        let layout = Layout::of(self);
        let columns = if layout.is_wide() { 1 } else { self.panels.len().clamp(1, 3) };
        let width = (columns as f64 * (layout.width + GAP) - GAP).max(460.0);
        let mut file = SvgFile { body: String::new(), y: MARGIN, width };
        file.lines("heading", &wrap(&self.title, 16.0, width, 3), 20.0);
        file.legend(&self.legend());
        for row in self.panels.chunks(columns) {
            for (place, panel) in row.iter().enumerate() {
                let (elements, _) = panel::draw(panel, &layout);
                let x = MARGIN + place as f64 * (layout.width + GAP);
                let _ = writeln!(file.body, "<g transform=\"translate({x:.1} {:.1})\">{elements}</g>", file.y);
            }
            file.y += layout.height + GAP;
        }
        file.lines("caption", &wrap(&self.caption, SMALL, width, 40), LINE + 2.0);
        file.finish(&self.title)
    }
}

/// Builds a file from top to bottom.
struct SvgFile {
    body: String,
    /// The vertical position of the next part.
    y: f64,
    /// Width between the margins.
    width: f64,
}

impl SvgFile {
    fn lines(&mut self, class: &str, lines: &[String], height: f64) {
        for line in lines {
            self.y += height;
            let text = escape(line);
            let _ = writeln!(self.body, "<text class=\"{class}\" x=\"{MARGIN}\" y=\"{:.1}\">{text}</text>", self.y);
        }
    }

    /// Keys and names in rows.
    fn legend(&mut self, entries: &[(String, String)]) {
        self.y += 10.0;
        let mut x_offset = 0.0;
        for (class, name) in entries {
            let wide = text::width(name, 12.0) + 40.0;
            if x_offset > 0.0 && x_offset + wide > self.width {
                (x_offset, self.y) = (0.0, self.y + 20.0);
            }
            let (x, y) = (MARGIN + x_offset, self.y);
            let key = match class.as_str() {
                "reference" => format!("<path class=\"line reference\" d=\"M{x:.1} {:.1}h16\"/>", y + 10.0),
                _ => format!(
                    "<rect class=\"key\" x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" rx=\"3\"/>",
                    y + 4.0
                ),
            };
            let text =
                format!("<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 20.0, y + 14.0, escape(name));
            let _ = writeln!(self.body, "<g class=\"{class}\">{key}{text}</g>");
            x_offset += wide;
        }
        self.y += if entries.is_empty() { 4.0 } else { 34.0 };
    }

    fn finish(self, title: &str) -> String {
        let (wide, high) = (self.width + 2.0 * MARGIN, self.y + MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.0} {high:.0}\" width=\"{wide:.0}\" \
             height=\"{high:.0}\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
             <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
            escape(title),
            self.body
        )
    }
}

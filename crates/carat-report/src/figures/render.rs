//! A chart as a figure of a page.

use super::chart::{Chart, Mark};
use super::layout::Layout;
use super::marks::series_class;
use super::panel;
use crate::page::escape;

/// The style of charts. Every page and every SVG file contains it.
pub const STYLE: &str = include_str!("chart.css");

impl Chart {
    /// The chart as a figure of a page. The page's style sheet must contain [`STYLE`].
    pub fn html(&self) -> String {
        let layout = Layout::of(self);
        let keys: String = self
            .legend()
            .iter()
            .map(|(class, name)| format!("<li class=\"{class}\"><span class=\"key\"></span>{}</li>", escape(name)))
            .collect();
        let legend = if keys.is_empty() { keys } else { format!("<ul class=\"legend\">{keys}</ul>\n") };
        let panels: Vec<String> =
            self.panels.iter().map(|panel| element(panel::draw(panel, &layout), &layout)).collect();
        let caption = match self.caption.as_str() {
            "" => String::new(),
            caption => format!("<figcaption>{}</figcaption>\n", escape(caption)),
        };
        format!(
            "<figure>\n<h3>{}</h3>\n{legend}<div class=\"panels {}\">\n{}\n</div>\n{caption}</figure>\n",
            escape(&self.title),
            self.arrangement(&layout),
            panels.join("\n"),
        )
    }

    /// Class and name of every series and reference line that has a name.
    pub(super) fn legend(&self) -> Vec<(String, String)> {
        let series = self.series.iter().enumerate().map(|(place, name)| (series_class(place), name.clone()));
        let mut entries: Vec<(String, String)> = series.filter(|(_, name)| !name.is_empty()).collect();
        for mark in self.panels.iter().flat_map(|panel| &panel.marks) {
            if let Mark::Guide { name, .. } = mark {
                let entry = ("reference".to_string(), name.clone());
                if !name.is_empty() && !entries.contains(&entry) {
                    entries.push(entry);
                }
            }
        }
        entries
    }

    /// The class that arranges the panels.
    fn arrangement(&self, layout: &Layout) -> &'static str {
        match self.panels.len() {
            _ if layout.is_wide() => "wide",
            0..=2 => "few",
            _ => "many",
        }
    }
}

fn element((elements, about): (String, String), layout: &Layout) -> String {
    format!(
        "<div><svg viewBox=\"0 0 {:.0} {:.0}\" role=\"group\" aria-label=\"{}\">{elements}</svg></div>",
        layout.width,
        layout.height,
        escape(&about)
    )
}

#[cfg(test)]
#[path = "render_tests.rs"]
mod tests;

//! Figures as SVG, one file per figure. Each is a row of small panels that stands in one column on a phone and side by
//! side on a desktop, so that text keeps its size. Colours are classes that the page's style sheet fills in, for light
//! and dark.

mod chart;
mod scale;
mod svg;
mod sweep;

pub use chart::{Axis, Chart, ChartPanel, Mark};
pub use sweep::sweep;

use crate::demo::Treatment;
use crate::page::escape;

/// A figure of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// Class and name of every series.
    pub legend: Vec<(String, String)>,
    /// One SVG element each.
    pub panels: Vec<String>,
}

impl Figure {
    /// The figure as HTML.
    pub fn html(&self) -> String {
        let entry = |(class, name): &(String, String)| {
            format!("<li class=\"{}\"><span class=\"key\"></span>{}</li>", escape(class), escape(name))
        };
        format!(
            "<figure>\n<h3>{}</h3>\n<ul class=\"legend\">{}</ul>\n<div class=\"panels\">\n{}\n</div>\n<figcaption>{}</figcaption>\n</figure>\n",
            escape(&self.title),
            self.legend.iter().map(entry).collect::<String>(),
            self.panels.join("\n"),
            escape(&self.caption)
        )
    }
}

/// The class that colours a treatment's series.
fn series(treatment: Treatment) -> String {
    let position = Treatment::ALL.iter().position(|t| *t == treatment).unwrap_or_default();
    format!("series-{position}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_text() {
        let figure = Figure {
            title: "<script>".into(),
            caption: "a & b".into(),
            legend: vec![("\"onload=".into(), "<b>".into())],
            panels: Vec::new(),
        };
        let html = figure.html();
        assert!(html.contains("&lt;script&gt;") && html.contains("a &amp; b") && html.contains("&lt;b&gt;"));
        assert!(html.contains("class=\"&quot;onload=\""));
    }
}

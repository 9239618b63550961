//! A report as one self-contained HTML page.

use super::outline::{Part, parts};
use super::{Block, Report};
use crate::page::Page;

/// The whole page: the lead, the table of contents, the sections.
pub fn html(report: &Report) -> String {
    let mut page = Page::new(&report.title);
    let parts = parts(report);
    let sections = || parts.iter().filter_map(|part| Some((part, part.title?)));
    for lead in parts.iter().filter(|part| part.title.is_none()) {
        fill(&mut page, lead);
    }
    if sections().nth(1).is_some() {
        page.contents(sections().map(|(part, title)| (part.id.as_str(), title)));
    }
    for (part, title) in sections() {
        page.section(&part.id, title, |page| fill(page, part));
    }
    page.finish()
}

fn fill(page: &mut Page, part: &Part) {
    for (_, block) in &part.blocks {
        match block {
            Block::Paragraph(text) => page.paragraph(text),
            Block::Points(points) => page.list(points),
            Block::Command(text) => page.code(text),
            Block::Table(table) => page.table(table),
            Block::Chart(chart) => page.chart(chart),
        }
    }
}

//! A report as Markdown, with links to the files that [`super::files`] makes.

use std::fmt::Write;

use super::outline::parts;
use super::{Block, Cell, Report, Table};

/// The report as GitHub's Markdown. Charts and tables link to the files of the same report, in the same folder.
pub fn markdown(report: &Report) -> String {
    write(report, true)
}

/// The report as a single Markdown file, without links to other files and so without charts.
pub fn markdown_without_links(report: &Report) -> String {
    write(report, false)
}

fn write(report: &Report, links: bool) -> String {
    let mut text = format!("# {}\n", plain(&report.title));
    for part in parts(report) {
        if let Some(title) = part.title {
            let _ = write!(text, "\n## {}\n", plain(title));
        }
        for (name, block) in part.blocks.iter().filter(|(_, block)| links || !matches!(block, Block::Chart(_))) {
            text.push('\n');
            text.push_str(&match block {
                Block::Paragraph(paragraph) => format!("{}\n", plain(paragraph)),
                Block::Points(points) => points.iter().map(|point| format!("- {}\n", plain(point))).collect(),
                Block::Command(command) => code(command),
                Block::Table(table) => self::table(table, links.then_some(name)),
                Block::Chart(chart) => {
                    let (title, caption) = (plain(&chart.title), plain(&chart.caption));
                    let caption = if caption.is_empty() { caption } else { format!("\n{caption}\n") };
                    format!("### {title}\n\n![{title}]({name}.svg)\n{caption}")
                }
            });
        }
    }
    text
}

fn table(table: &Table, file: Option<&String>) -> String {
    let link = file.map_or(String::new(), |name| format!(" ([{name}.csv]({name}.csv))"));
    let mut text = format!("**{}**{link}\n\n", plain(&table.caption));
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&row(table.columns.iter().map(|column| within_line(&column.heading)).collect()));
    text.push_str(&row(table
        .columns
        .iter()
        .map(|column| if column.numeric { "---:" } else { "---" }.into())
        .collect()));
    table.cells().for_each(|cells| text.push_str(&row(cells.map(|(_, cell)| self::cell(cell)).collect())));
    text
}

fn cell(cell: &Cell) -> String {
    let text = within_line(&cell.text);
    if cell.strong && !text.is_empty() { format!("**{text}**") } else { text }
}

/// A fenced block. Its fence is longer than any row of backticks inside.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}

/// Text on one line that Markdown shows unchanged. Characters are escaped only where they would be markup.
fn plain(text: &str) -> String {
    escaped(text, true)
}

/// The same for text inside a line, where a leading minus is not markup.
fn within_line(text: &str) -> String {
    escaped(text, false)
}

fn escaped(text: &str, begins_line: bool) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let characters: Vec<char> = joined.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    let mut plain = String::with_capacity(joined.len());
    for (place, &character) in characters.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| characters.get(place)).copied().unwrap_or(' ');
        let after = characters.get(place + 1).copied().unwrap_or(' ');
        let opens = begins_line && place == 0;
        let is_markup = match character {
            '\\' | '`' | '*' | '|' | '~' | '$' => true,
            '_' => !(before.is_alphanumeric() && after.is_alphanumeric()),
            '<' => after.is_ascii_alphabetic() || matches!(after, '/' | '!' | '?'),
            '&' => after.is_ascii_alphanumeric() || after == '#',
            ']' => matches!(after, '(' | '[' | ':'),
            '[' => place == 0,
            '#' | '>' | '+' | '-' | '=' => opens,
            // "1." at the start of a line would begin a list.
            '.' | ')' => begins_line && after == ' ' && characters[..place].iter().all(char::is_ascii_digit),
            _ => false,
        };
        if is_markup {
            plain.push('\\');
        }
        plain.push(character);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Chart;
    use crate::{Column, Section};

    #[test]
    fn only_markup_is_escaped() {
        for (text, expected) in [
            ("p < 0.05, attention_auc in [0.1, 0.2] is 1.5 - 2", "p < 0.05, attention_auc in [0.1, 0.2] is 1.5 - 2"),
            ("</script><img onerror=alert(1)>", "\\</script>\\<img onerror=alert(1)>"),
            ("a|b *c* `d` \\ _e_ ~f~ $g$", "a\\|b \\*c\\* \\`d\\` \\\\ \\_e\\_ \\~f\\~ \\$g\\$"),
            ("[x](javascript:alert(1)) [y]: z", "\\[x\\](javascript:alert(1)) [y\\]: z"),
            ("# no heading\n- no point", "\\# no heading - no point"),
            ("1. no list", "1\\. no list"),
            ("&lt; R&D & more", "\\&lt; R\\&D & more"),
            ("a\u{0}b\r\n c", "a\u{fffd}b c"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn every_block_is_written() {
        let table = Table {
            name: "cora".into(),
            caption: "Loss".into(),
            columns: vec![Column::text("arm"), Column::numbers("a|b")],
            rows: vec![vec![Cell::text("CAR"), Cell::number("1.72", 1.7212).strong_if(true)], vec![Cell::text("x")]],
        };
        let chart = Chart { title: "T".into(), caption: "How.".into(), series: Vec::new(), panels: Vec::new() };
        let blocks = vec![
            Block::Points(vec!["one".into(), "two".into()]),
            Block::Command("carat ```x".into()),
            Block::Table(table),
            Block::Chart(chart),
        ];
        let section = Section { id: "table1".into(), title: "Table 1".into(), blocks };
        let report =
            Report { title: "R".into(), lead: vec![Block::Paragraph("Lead.".into())], sections: vec![section] };
        assert_eq!(
            markdown(&report),
            "# R\n\nLead.\n\n## Table 1\n\n- one\n- two\n\n````text\ncarat ```x\n````\n\n\
             **Loss** ([cora.csv](cora.csv))\n\n| arm | a\\|b |\n| --- | ---: |\n| CAR | **1.72** |\n| x |  |\n\n\
             ### T\n\n![T](table1-1.svg)\n\nHow.\n"
        );
        let single = markdown_without_links(&report);
        assert!(
            single.contains("**Loss**\n\n| arm |") && !single.contains("](") && !single.contains("### T"),
            "{single}"
        );
        assert_eq!((cell(&Cell::text("-0.5")), cell(&Cell::text("[x](y)"))), ("-0.5".into(), "\\[x\\](y)".into()));
    }
}

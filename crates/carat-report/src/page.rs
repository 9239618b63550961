//! One self-contained HTML page: style and script inlined, nothing fetched, readable in light, in dark and on paper.

use base64::prelude::{BASE64_STANDARD, Engine};
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::figures::{self, Chart};
use crate::{Cell, Column, Table};

/// The style of pages, for light and dark screens and for paper. It follows [`figures::STYLE`], which has the colours.
pub const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Tables with more rows than this scroll in their own box, below fixed headings.
const LONG_TABLE: usize = 24;

/// Text cells with more characters than this may wrap.
const LONG_TEXT: usize = 36;

/// Escapes text for HTML elements and quoted attributes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // HTML and SVG forbid these two and some control characters, none of which belongs in text.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() && c != '\n' && c != '\t' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Builds a page. All texts are plain, and are escaped here.
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    body: String,
}

impl Page {
    /// An empty page with a title.
    pub fn new(title: &str) -> Self {
        Self { title: escape(title), body: format!("<h1>{}</h1>\n", escape(title)) }
    }

    /// A section's heading.
    pub fn heading(&mut self, text: &str) {
        self.element("h2", text);
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.element("p", text);
    }

    /// Literal text, such as a command.
    pub fn code(&mut self, text: &str) {
        self.body.push_str(&format!("<pre><code>{}</code></pre>\n", escape(text)));
    }

    /// A bulleted list.
    pub fn list(&mut self, points: &[String]) {
        let points: String = points.iter().map(|point| format!("<li>{}</li>\n", escape(point))).collect();
        self.body.push_str(&format!("<ul>\n{points}</ul>\n"));
    }

    /// A table with its caption above it. A click on a heading sorts it.
    pub fn table(&mut self, table: &Table) {
        let class = |column: &Column| if column.numeric { " class=\"number\"" } else { "" };
        let head: String = table
            .columns
            .iter()
            .map(|column| format!("<th scope=\"col\"{}>{}</th>", class(column), escape(&column.heading)))
            .collect();
        let rows: String =
            table.cells().map(|row| format!("<tr>{}</tr>\n", row.map(cell).collect::<String>())).collect();
        let long = if table.rows.len() > LONG_TABLE { " long" } else { "" };
        let caption = escape(&table.caption);
        self.body.push_str(&format!(
            "<div class=\"scroll{long}\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table>\n\
             <caption><span>{caption}</span></caption>\n<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n\
             </table></div>\n"
        ));
    }

    /// A chart.
    pub fn chart(&mut self, chart: &Chart) {
        self.body.push_str(&chart.html());
    }

    /// Links to sections, given as their ids and titles.
    pub fn contents<'a>(&mut self, sections: impl Iterator<Item = (&'a str, &'a str)>) {
        let link = |(id, title): (&str, &str)| format!("<li><a href=\"#{}\">{}</a></li>\n", escape(id), escape(title));
        let links: String = sections.map(link).collect();
        self.body.push_str(&format!(
            "<nav aria-labelledby=\"contents\">\n<p id=\"contents\">Contents</p>\n<ol>\n{links}</ol>\n</nav>\n"
        ));
    }

    /// A section with a heading that can be linked to; `fill` writes its contents.
    pub fn section(&mut self, id: &str, title: &str, fill: impl FnOnce(&mut Self)) {
        let id = escape(id);
        self.body.push_str(&format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n", escape(title)));
        fill(self);
        self.body.push_str("</section>\n");
    }

    /// The page's numbers as JSON, for programs. They are not shown.
    pub fn data(&mut self, id: &str, value: &impl Serialize) {
        self.body.push_str(&data_element(id, value));
    }

    /// The whole page. Its policy lets the browser fetch nothing, and run only the page's own script.
    pub fn finish(self) -> String {
        let Self { title, body } = self;
        document(&title, &body, &format!("\n{}{STYLE}", figures::STYLE), SCRIPT, "")
    }

    fn element(&mut self, tag: &str, text: &str) {
        self.body.push_str(&format!("<{tag}>{}</{tag}>\n", escape(text)));
    }
}

/// A whole document. `title` and `body` are HTML; `style` and `script` are inserted unchanged. `allowed` extends the
/// [`policy`].
pub fn document(title: &str, body: &str, style: &str, script: &str, allowed: &str) -> String {
    let policy = policy(style, script, allowed);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en-GB\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n\
         <script>{script}</script>\n</body>\n</html>\n"
    )
}

/// The content security policy of a page: it permits this style, this script and what `allowed` names.
pub fn policy(style: &str, script: &str, allowed: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'{allowed}",
        csp_hash(script),
        csp_hash(style)
    )
}

/// Data as JSON in an element that is not shown. If a value does not serialise, the page has no data; all types used
/// here do.
pub fn data_element(id: &str, value: &impl Serialize) -> String {
    let Ok(json) = serde_json::to_string(value) else { return String::new() };
    // A script element ends at the first "</script", even inside JSON. The two separators end lines in JavaScript, but
    // not in JSON.
    let json = json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    format!("<script type=\"application/json\" id=\"{}\">{json}</script>\n", escape(id))
}

/// A cell with the number behind it, by which its column is sorted.
fn cell((column, cell): (&Column, &Cell)) -> String {
    let value = match cell.value {
        Some(value) if value.is_finite() => format!(" data-value=\"{value}\""),
        Some(value) if value.is_infinite() => format!(" data-value=\"{}Infinity\"", if value < 0.0 { "-" } else { "" }),
        _ => String::new(),
    };
    let class = match column.numeric {
        true => " class=\"number\"",
        false if cell.text.chars().count() > LONG_TEXT => " class=\"text\"",
        false => "",
    };
    let text = escape(&cell.text);
    let text = if cell.strong && !text.is_empty() { format!("<strong>{text}</strong>") } else { text };
    format!("<td{class}{value}>{text}</td>")
}

/// The name of an inline script or style in a policy.
fn csp_hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "</script><script>alert('1')</script> & \"quoted\" \u{0}\u{1b}\u{2028}";

    #[test]
    fn hostile_text_is_escaped() {
        assert_eq!(escape("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
        assert_eq!(escape("a\u{0}b\u{1b}\nc"), "a\u{fffd}b\u{fffd}\nc");
        assert_eq!(escape("± ü 図"), "± ü 図");
    }

    #[test]
    fn hostile_text_is_escaped_in_every_part_of_a_page() {
        let mut page = Page::new(HOSTILE);
        page.contents([(HOSTILE, HOSTILE)].into_iter());
        page.section(HOSTILE, HOSTILE, |page| page.heading(HOSTILE));
        page.paragraph(HOSTILE);
        page.code(HOSTILE);
        page.list(&[HOSTILE.to_string()]);
        page.table(&Table {
            name: HOSTILE.into(),
            caption: HOSTILE.into(),
            columns: vec![Column::text(HOSTILE), Column::numbers("n")],
            rows: vec![vec![Cell::text(HOSTILE).strong_if(true), Cell::number(HOSTILE, 1.0)]],
        });
        page.data("data", &HOSTILE);
        let html = page.finish();
        // The data and the page's own script.
        assert_eq!(html.matches("<script").count(), 2);
        assert_eq!(html.matches("</script").count(), 2);
        assert!(!html.contains("alert('1')</script>") && !html.contains('\u{0}'));
        let json = html.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), HOSTILE);
        assert!(!json.contains('\u{2028}'));
    }

    #[test]
    fn cells_hold_the_values_that_they_are_sorted_by() {
        let mut page = Page::new("t");
        let numbers = [0.1 + 0.2, -1e-12, f64::NAN, f64::NEG_INFINITY].map(|value| Cell::number("x", value));
        let mut columns = vec![Column::numbers("n"); 5];
        columns.push(Column::text("w"));
        let row = numbers.into_iter().chain([Cell::number("2", 2.0).strong_if(true), Cell::text("w")]).collect();
        page.table(&Table { name: "t".into(), caption: "c".into(), columns, rows: vec![row, Vec::new()] });
        let html = page.finish();
        for part in [
            "<th scope=\"col\" class=\"number\">n</th>",
            "<th scope=\"col\">w</th>",
            "<td class=\"number\" data-value=\"0.30000000000000004\">x</td>",
            "<td class=\"number\" data-value=\"-0.000000000001\">x</td>",
            "<td class=\"number\">x</td>",
            "<td class=\"number\" data-value=\"-Infinity\">x</td>",
            "<td class=\"number\" data-value=\"2\"><strong>2</strong></td>",
            "<td>w</td></tr>\n<tr><td class=\"number\"></td>",
        ] {
            assert!(html.contains(part), "{part} is not in {html}");
        }
        // A row that is too short is filled up.
        assert_eq!(html.matches("<td").count(), 12);
    }

    #[test]
    fn the_policy_permits_only_the_page_s_script_and_style() {
        // The known digest of no text.
        assert_eq!(csp_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        let html = Page::new("t").finish();
        for (element, kind) in [("script", "script-src"), ("style", "style-src")] {
            let content =
                html.split(&format!("<{element}>")).nth(1).unwrap().split(&format!("</{element}>")).next().unwrap();
            assert!(html.contains(&format!("{kind} '{}'", csp_hash(content))), "{element}");
        }
        assert!(!SCRIPT.contains("</script") && !html.contains("unsafe"));
    }
}

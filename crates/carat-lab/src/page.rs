//! One self-contained HTML page: style inlined, nothing fetched, readable in light, in dark and on paper.

use serde::Serialize;

use crate::figures::Figure;

const STYLE: &str = include_str!("page.css");

/// Text as it may stand in HTML, in an element or in a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // Control characters are no part of a text and not all allowed in HTML.
            c if c.is_control() && c != '\n' && c != '\t' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A page under construction. Everything given to it is plain text and is escaped here.
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

    /// Something that is typed as it stands, such as a command.
    pub fn code(&mut self, text: &str) {
        self.body.push_str(&format!("<pre><code>{}</code></pre>\n", escape(text)));
    }

    /// Points one under the other.
    pub fn list(&mut self, points: &[String]) {
        let points: String = points.iter().map(|point| format!("<li>{}</li>\n", escape(point))).collect();
        self.body.push_str(&format!("<ul>\n{points}</ul>\n"));
    }

    /// A table, with what it shows above it. A heading that starts with `>` has its column aligned to the right.
    pub fn table(&mut self, caption: &str, headings: &[&str], rows: &[Vec<String>]) {
        let right = |column: usize| headings.get(column).is_some_and(|heading| heading.starts_with('>'));
        let cell = |tag: &str, column: usize, text: &str| {
            let class = if right(column) { " class=\"number\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", escape(text.trim_start_matches('>')))
        };
        let row = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
            let cells: String = cells.enumerate().map(|(column, text)| cell(tag, column, text)).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let head = row("th", &mut headings.iter().copied());
        let body: String = rows.iter().map(|cells| row("td", &mut cells.iter().map(String::as_str))).collect();
        let caption = format!("<caption>{}</caption>", escape(caption));
        let table = format!("<table>\n{caption}\n<thead>\n{head}</thead>\n<tbody>\n{body}</tbody>\n</table>");
        self.body.push_str(&format!("<div class=\"scroll\" tabindex=\"0\">{table}</div>\n"));
    }

    /// A figure.
    pub fn figure(&mut self, figure: &Figure) {
        self.body.push_str(&figure.html());
    }

    /// The numbers behind the page as JSON, for programs; not shown.
    pub fn data(&mut self, id: &str, value: &impl Serialize) {
        // The types of this crate always serialise; were one not to, the page would only lack its data.
        if let Ok(json) = serde_json::to_string(value) {
            // A script element ends at the first "</script", whatever the JSON meant by it.
            let json = json.replace('<', "\\u003c");
            self.body.push_str(&format!("<script type=\"application/json\" id=\"{}\">{json}</script>\n", escape(id)));
        }
    }

    /// The whole page. Its policy forbids the browser to fetch or to run anything.
    pub fn finish(self) -> String {
        let Self { title, body } = self;
        format!(
            "<!DOCTYPE html>\n<html lang=\"en-GB\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
        )
    }

    fn element(&mut self, tag: &str, text: &str) {
        self.body.push_str(&format!("<{tag}>{}</{tag}>\n", escape(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "</script><script>alert('1')</script> & \"quoted\" \u{0}\u{1b}";

    #[test]
    fn hostile_text_is_escaped() {
        assert_eq!(escape("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
        assert_eq!(escape("a\u{0}b\u{1b}\nc"), "a\u{fffd}b\u{fffd}\nc");
        assert_eq!(escape("± ü 図"), "± ü 図");
    }

    #[test]
    fn nothing_hostile_survives_any_part_of_a_page() {
        let mut page = Page::new(HOSTILE);
        page.heading(HOSTILE);
        page.paragraph(HOSTILE);
        page.code(HOSTILE);
        page.list(&[HOSTILE.to_string()]);
        page.table(HOSTILE, &[HOSTILE, ">n"], &[vec![HOSTILE.to_string(), "1".to_string()]]);
        page.data("data", &HOSTILE);
        let html = page.finish();
        assert_eq!(html.matches("<script").count(), 1);
        assert_eq!(html.matches("</script").count(), 1);
        assert!(!html.contains("alert('1')</script>") && !html.contains('\u{0}'));
        assert!(html.contains("<th class=\"number\">n</th>") && html.contains("<td class=\"number\">1</td>"));
        let json = html.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), HOSTILE);
    }
}

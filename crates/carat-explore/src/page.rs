//! The page: the same document for the server and for a file. Its script asks the server, or reads the data in the
//! file.

use carat_report::figures;
use carat_report::page::{self, data_element, escape};
use serde::Serialize;

use crate::http::Response;

const BODY: &str = include_str!("page/body.html");
/// One script in the order of its parts.
const SCRIPT: &str = concat!(
    include_str!("page/base.js"),
    include_str!("page/source.js"),
    include_str!("page/scale.js"),
    include_str!("page/picture.js"),
    include_str!("page/legend.js"),
    include_str!("page/table.js"),
    include_str!("page/intervention.js"),
    include_str!("page/search.js"),
    include_str!("page/download.js"),
    include_str!("page/main.js"),
);
const OWN_STYLE: &str = include_str!("page/explore.css");

/// Pictures are drawn from data that the page holds itself.
const PICTURES: &str = "; img-src data: blob:";
/// The server's page also asks the server.
const QUESTIONS: &str = "; connect-src 'self'; img-src data: blob:";

fn style() -> String {
    format!("\n{}{}{OWN_STYLE}", figures::STYLE, page::STYLE)
}

/// The page that the server shows.
#[derive(Debug)]
pub struct LivePage {
    response: Response,
}

impl LivePage {
    /// Builds the page once.
    pub fn new() -> Self {
        let style = style();
        let html = page::document("carat explore", BODY, &style, SCRIPT, QUESTIONS);
        Self { response: Response::page(&html, &page::policy(&style, SCRIPT, QUESTIONS)) }
    }

    /// The page as an answer.
    pub fn response(&self) -> Response {
        self.response.clone()
    }
}

/// The page as one file with its data inside.
pub fn still_page(title: &str, data: &impl Serialize) -> String {
    let body = format!("{BODY}{}", data_element("data", data));
    page::document(&escape(title), &body, &style(), SCRIPT, PICTURES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_fetches_nothing_from_elsewhere_and_sets_no_markup() {
        for text in [BODY, SCRIPT, OWN_STYLE] {
            for foreign in ["https://", "@import", "url(", "<link", "src=", "cdn."] {
                assert!(!text.contains(foreign), "{foreign}");
            }
        }
        // Names of nodes may be anything, so the script uses nothing that would parse or run them.
        for unsafe_way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"] {
            assert!(!SCRIPT.contains(unsafe_way), "{unsafe_way}");
        }
        assert!(!SCRIPT.contains("</script") && !BODY.contains(" style=") && !BODY.contains(" on"));
    }

    #[test]
    fn hostile_data_stays_inside_its_element() {
        let hostile = "</script><script>alert(1)</script>\u{2028}<!--";
        let html = still_page(hostile, &[hostile]);
        assert_eq!((html.matches("<script").count(), html.matches("</script").count()), (2, 2));
        let json = html.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert!(!json.contains('<') && !json.contains('\u{2028}'));
        assert_eq!(serde_json::from_str::<Vec<String>>(json).unwrap(), [hostile]);
        assert!(!html.contains("connect-src"));
    }
}

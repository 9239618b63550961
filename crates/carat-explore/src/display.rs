//! The names of nodes and classes as the page shows them.
//!
//! Names come from untrusted files. Characters that are not text are replaced here; the page inserts names as text,
//! never as markup.

use carat_graph::Dataset;

/// The longest name shown, in characters.
const LONGEST: usize = 300;

/// A name made safe to show. Line ends become spaces; other control characters and those that change the direction of
/// the surrounding text become U+FFFD; the end of a very long name is cut off. Letters of right-to-left scripts are
/// kept.
pub fn shown(name: &str) -> String {
    let letter = |c: char| match c {
        '\t' | '\n' | '\r' => ' ',
        c if is_text(c) => c,
        _ => '\u{fffd}',
    };
    let mut text: String = name.trim().chars().take(LONGEST).map(letter).collect();
    if name.trim().chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    text
}

fn is_text(character: char) -> bool {
    !(character.is_control()
        || matches!(character,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}'))
}

/// A text for comparison: lower case, control characters as spaces.
pub fn folded(text: &str) -> String {
    let lower = text.chars().flat_map(char::to_lowercase);
    lower.map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The name of a node as shown: its own, with its id where that is another, or `node 12`.
pub fn node_name(dataset: &Dataset, node: u32) -> String {
    let own = dataset.node_names().and_then(|names| names.get(node as usize)).map(|name| shown(name));
    let own = own.filter(|name| !name.is_empty());
    let id = dataset.node_ids().and_then(|ids| ids.get(node as usize)).map(|id| shown(id));
    match (own, id) {
        (Some(name), Some(id)) if name != id => format!("{name} ({id})"),
        (Some(name), _) => name,
        (None, Some(id)) => id,
        (None, None) => format!("node {node}"),
    }
}

/// The names of `classes` classes. A class without a name gets its number.
pub fn class_names(dataset: &Dataset, classes: usize) -> Vec<String> {
    let names = dataset.class_names().unwrap_or_default();
    let own = |class: usize| names.get(class).map(|name| shown(name)).filter(|name| !name.is_empty());
    (0..classes).map(|class| own(class).unwrap_or_else(|| format!("class {class}"))).collect()
}

/// A name in an error message.
pub fn quoted(name: &str) -> String {
    format!("'{}'", shown(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_letters_and_lose_control_characters() {
        for kept in ["<b>&\"'</b>", "שלום", "日本 語", "a\u{301}", "👩\u{200d}💻"] {
            assert_eq!(shown(kept), kept);
        }
        assert_eq!(shown(" a\u{202e}b\u{2028}c\u{0}\td\u{feff} \n"), "a\u{fffd}b\u{fffd}c\u{fffd} d\u{feff}");
        assert_eq!(shown(&"x".repeat(300)).chars().count(), 300);
        assert_eq!(shown(&"x".repeat(301)), format!("{}…", "x".repeat(300)));
    }

    #[test]
    fn nodes_and_classes_without_a_name_have_a_number() {
        let dataset = Dataset::from_rows("tiny", &[], &[[1.0], [1.0]], &[Some(0), Some(1)]).unwrap();
        let mut parts = dataset.into_parts();
        parts.node_names = Some(vec![" ".into(), "one".into()]);
        parts.class_names = Some(vec!["A".into(), String::new()]);
        let dataset = Dataset::new(parts).unwrap();
        assert_eq!((node_name(&dataset, 0), node_name(&dataset, 1)), ("node 0".into(), "one".into()));
        assert_eq!(class_names(&dataset, 3), ["A", "class 1", "class 2"]);
    }
}

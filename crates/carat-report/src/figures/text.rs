//! Measures, shortens and wraps text. SVG does not wrap text, and the reader's font is unknown, so widths are those of
//! a wide font (DejaVu Sans). Text in a narrower font leaves space.

/// The width of a text in pixels, for a font size in pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(relative_width).sum::<f64>() * size
}

fn relative_width(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | 'I' => 0.33,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '"' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.98,
        '<' | '>' | '=' | '+' | '~' | '±' | '×' | '−' => 0.84,
        'A'..='Z' => 0.76,
        '\u{1100}'.. => 1.05,
        _ => 0.64,
    }
}

/// The text, or its start and an ellipsis if it is wider than `max_width`.
pub(super) fn shorten(text: &str, size: f64, max_width: f64) -> String {
    if width(text, size) <= max_width {
        return text.to_string();
    }
    let max_width = max_width - width("…", size);
    let mut used = 0.0;
    let kept = text.chars().take_while(|character| {
        used += relative_width(*character) * size;
        used <= max_width
    });
    let kept: String = kept.collect();
    format!("{}…", kept.trim_end())
}

/// The text in lines of at most `max_width`, broken between words. If it needs more than `max_lines`, the last line
/// ends in an ellipsis.
pub(super) fn wrap(text: &str, size: f64, max_width: f64, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let count = lines.len();
        match lines.last_mut() {
            Some(line)
                if count >= max_lines || width(line, size) + width(" ", size) + width(word, size) <= max_width =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines.iter().map(|line| shorten(line, size, max_width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_stay_and_long_ones_end_in_an_ellipsis() {
        assert_eq!(shorten("Cora", 11.0, 60.0), "Cora");
        let long = "a-dataset-with-a-name-that-nobody-would-give";
        let short = shorten(long, 11.0, 80.0);
        assert!(short.ends_with('…') && long.starts_with(short.trim_end_matches('…')), "{short}");
        assert!(width(&short, 11.0) <= 80.0);
        assert_eq!(shorten("図図図図図図", 10.0, 35.0), "図図…");
        assert_eq!(shorten("abc", 11.0, 0.0), "…");
    }

    #[test]
    fn lines_break_between_words_and_fit() {
        let text = "test loss with the regulariser against test loss without it";
        let lines = wrap(text, 11.0, 160.0, 9);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, 11.0) <= 160.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        let two = wrap(text, 11.0, 160.0, 2);
        assert_eq!((two.len(), two[0].as_str()), (2, lines[0].as_str()));
        assert!(two[1].ends_with('…') && width(&two[1], 11.0) <= 160.0);
        assert!(wrap(" \n", 11.0, 160.0, 2).is_empty());
    }
}

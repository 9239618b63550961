//! A hash of sources. Comments, formatting and tests do not change it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The hash of some files and their names. It only distinguishes versions: std's hash with fixed keys is the same for
/// one compiler, and another compiler may compute other results anyway.
pub fn fingerprint(files: &BTreeMap<String, Vec<u8>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (name, bytes) in files.iter().filter(|(name, _)| !is_test(name)) {
        (name, hashed_part(name, bytes)).hash(&mut hasher);
    }
    hasher.finish()
}

/// True for files that contain only tests.
fn is_test(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.ends_with("_tests.rs")
}

/// The part of a file that is hashed: the tokens of Rust sources, every byte of other files.
fn hashed_part(name: &str, bytes: &[u8]) -> Vec<u8> {
    let source = std::str::from_utf8(bytes).ok().filter(|_| name.ends_with(".rs"));
    match source.and_then(|source| source.parse::<TokenStream>().ok()) {
        Some(tokens) => without_comments_and_tests(tokens).to_string().into_bytes(),
        None => bytes.to_vec(),
    }
}

/// Ordinary comments are not tokens, and doc comments are attributes. A trailing comma is formatting.
fn without_comments_and_tests(tokens: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut rest = &tokens[..];
    while let Some((token, others)) = rest.split_first() {
        let (passed, text) = attribute(rest);
        let after = &rest[passed..];
        if text.starts_with("[doc=") {
            rest = after;
        } else if let Some(item) = (text == "[cfg(test)]").then(|| module_or_use(after)).flatten() {
            rest = &after[item..];
        } else {
            kept.push(cleaned(token));
            rest = others;
        }
    }
    if kept.len() > 1 && kept.last().is_some_and(|last| is_punct(last, ',')) {
        kept.pop();
    }
    kept.into_iter().collect()
}

/// The length of the attribute at the start, and its text without spaces; 0 where there is no attribute.
fn attribute(tokens: &[TokenTree]) -> (usize, String) {
    let length = match tokens {
        [sign, TokenTree::Group(_), ..] if is_punct(sign, '#') => 2,
        [sign, bang, TokenTree::Group(_), ..] if is_punct(sign, '#') && is_punct(bang, '!') => 3,
        _ => return (0, String::new()),
    };
    (length, tokens[length - 1].to_string().replace(char::is_whitespace, ""))
}

/// The length of the `mod` or `use` at the start. Other test items count, because their end is harder to find.
fn module_or_use(tokens: &[TokenTree]) -> Option<usize> {
    let mut start = 0;
    while let (length @ 1.., _) = attribute(&tokens[start..]) {
        start += length;
    }
    let words = tokens[start..].iter().map(ToString::to_string);
    let keyword = start + words.take(3).position(|word| word == "mod" || word == "use")?;
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && tokens[keyword].to_string() == "mod",
        other => is_punct(other, ';'),
    };
    let end = tokens[keyword..].iter().position(is_end)?;
    Some(keyword + end + 1)
}

/// The token, with comments and tests inside it removed.
fn cleaned(token: &TokenTree) -> TokenTree {
    match token {
        TokenTree::Group(group) => {
            TokenTree::Group(Group::new(group.delimiter(), without_comments_and_tests(group.stream())))
        }
        other => other.clone(),
    }
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

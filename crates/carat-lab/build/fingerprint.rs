//! A hash of sources that comments, formatting and tests do not change.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The hash of some files by name. It only tells versions apart: std's hash with fixed keys is the same for one
/// compiler, and another compiler may compute other bits anyway.
pub fn fingerprint(files: &BTreeMap<String, Vec<u8>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (name, bytes) in files.iter().filter(|(name, _)| !is_test(name)) {
        (name, meaning(name, bytes)).hash(&mut hasher);
    }
    hasher.finish()
}

/// True for files that hold nothing but tests.
fn is_test(name: &str) -> bool {
    name.ends_with("/tests.rs") || name.ends_with("_tests.rs")
}

/// What counts of a file: of Rust the tokens, of anything else every byte.
fn meaning(name: &str, bytes: &[u8]) -> Vec<u8> {
    let source = std::str::from_utf8(bytes).ok().filter(|_| name.ends_with(".rs"));
    match source.and_then(|source| source.parse::<TokenStream>().ok()) {
        Some(tokens) => without_comments_and_tests(tokens).to_string().into_bytes(),
        None => bytes.to_vec(),
    }
}

/// Ordinary comments are no tokens; those of the documentation are attributes. A comma before a closing bracket is
/// formatting.
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
            kept.push(inside(token));
            rest = others;
        }
    }
    if kept.len() > 1 && kept.last().is_some_and(|last| is_punct(last, ',')) {
        kept.pop();
    }
    kept.into_iter().collect()
}

/// The length of the attribute that tokens begin with, and its text without spaces; 0 where they begin with none.
fn attribute(tokens: &[TokenTree]) -> (usize, String) {
    let length = match tokens {
        [sign, TokenTree::Group(_), ..] if is_punct(sign, '#') => 2,
        [sign, bang, TokenTree::Group(_), ..] if is_punct(sign, '#') && is_punct(bang, '!') => 3,
        _ => return (0, String::new()),
    };
    (length, tokens[length - 1].to_string().replace(char::is_whitespace, ""))
}

/// The length of the `mod` or `use` that tokens begin with. Other items for tests count: where they end is harder to
/// tell.
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

/// The same token without what does not count inside of it.
fn inside(token: &TokenTree) -> TokenTree {
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

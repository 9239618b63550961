//! Which changes of the sources change the fingerprint.

use std::collections::BTreeMap;

#[path = "../../build/fingerprint.rs"]
mod fingerprint;

fn hash(files: &[(&str, &str)]) -> u64 {
    let files: BTreeMap<_, _> = files.iter().map(|(name, text)| (name.to_string(), text.as_bytes().to_vec())).collect();
    fingerprint::fingerprint(&files)
}

fn of(source: &str) -> u64 {
    hash(&[("src/a.rs", source)])
}

const PLAIN: &str = "fn f(x: f64) { let t = \"a // b\"; x * 2.0 }";

#[test]
fn comments_formatting_and_tests_do_not_count() {
    for same in [
        "fn f(x: f64) { let t = \"a // b\"; /* twice */ x * 2.0 } // the end",
        "//! A file.\n\n/// A function.\nfn f(x: f64) {\n    // Twice.\n    let t = \"a // b\";\n\n    x * 2.0\n}",
        "/** Of old. */ fn f(x: f64) { //! Inside.\n let t = \"a // b\"; x * 2.0 }",
        "#[cfg(test)] use a::b; fn f(x: f64) { let t = \"a // b\"; x * 2.0 } #[cfg(test)] mod t { fn g() {} }",
        "fn f(\n    x: f64,\n) { let t = \"a // b\"; x * 2.0 }",
        "#[cfg(test)]\npub(crate) mod made_up;\nfn f(x: f64) { let t = \"a // b\"; x * 2.0 }",
        "fn f(x: f64) { let t = \"a // b\"; x * 2.0 }\n#[cfg(test)]\n#[path = \"t.rs\"]\nmod tests;",
    ] {
        assert_eq!(of(same), of(PLAIN), "{same}");
    }
    let tests = [("src/a.rs", PLAIN), ("src/a/tests.rs", "fn g() {}"), ("src/a_tests.rs", "fn h() {}")];
    assert_eq!(hash(&tests), of(PLAIN));
}

#[test]
fn code_texts_names_and_other_files_count() {
    for other in [
        "fn f(x: f64) { let t = \"a // b\"; x * 3.0 }",
        "fn f(x: f64) { let t = \"a // c\"; x * 2.0 }",
        "#[inline] fn f(x: f64) { let t = \"a // b\"; x * 2.0 }",
        "#[cfg(not(test))] fn f(x: f64) { let t = \"a // b\"; x * 2.0 }",
        "#![allow(dead_code)] fn f(x: f64) { let t = \"a // b\"; x * 2.0 }",
        "fn f(x: f64) { let t = r#\"a // b\"#; x * 2.0 }",
        "fn f(x: f64) { let t = \"a // b\"; x * 2.0",
    ] {
        assert_ne!(of(other), of(PLAIN), "{other}");
    }
    assert_ne!(hash(&[("src/b.rs", PLAIN)]), of(PLAIN));
    let lock = |version: &str| hash(&[("src/a.rs", PLAIN), ("../../Cargo.lock", version)]);
    assert_ne!(lock("version = \"1.0.0\" # of 2026"), lock("version = \"1.0.1\" # of 2026"));
}

/// Code after a test-only item counts, and so do items whose end the fingerprint cannot find.
#[test]
fn code_after_test_items_counts() {
    let with = |field: &str| of(&format!("struct S {{ #[cfg(test)] calls: usize, {field}: f64 }} fn f() {{}}"));
    assert_ne!(with("a"), with("b"));
    let with = |number: &str| of(&format!("#[cfg(test)] use a::{{b, c}}; const A: f64 = {number};"));
    assert_ne!(with("1.0"), with("2.0"));
}

#[test]
fn token_boundaries_and_kinds_count() {
    assert_ne!(of("fn f() { a; b }"), of("fn f() { ab }"));
    assert_ne!(of("fn f() { 'a' }"), of("fn f() { \"a\" }"));
}

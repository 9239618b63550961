//! Pages in a real browser: nothing goes wrong, nothing is too wide, and what can be pointed at answers.

use std::path::Path;

use crate::support::browser::{Browser, View};
use crate::support::{self, hostile, stdout};

const VIEWS: [View; 4] =
    [View::DESKTOP, View { dark: true, ..View::DESKTOP }, View::PHONE, View { dark: true, ..View::PHONE }];

/// What holds for every page: no error, and no sideways scrolling.
fn assert_sound(browser: &mut Browser, page: &Path, view: View) {
    browser.open(page, view);
    assert_eq!(browser.problems(), Vec::<String>::new(), "{view:?}");
    // A phone makes its window wider where the page is.
    assert_eq!(browser.evaluate("innerWidth"), view.width, "{view:?}");
    let width = browser.evaluate("document.documentElement.scrollWidth").as_u64().unwrap();
    assert!(width <= u64::from(view.width), "{view:?}: the page is {width} wide");
}

#[test]
fn the_demo_page_reads_well_and_its_points_tell_what_they_are() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("demo.html");
    stdout(folder.path(), &["demo", "--seeds", "2", "--nodes", "200", "--out", page.to_str().unwrap()]);
    let mut backgrounds = Vec::new();
    for view in VIEWS {
        assert_sound(&mut browser, &page, view);
        backgrounds.push(browser.evaluate("getComputedStyle(document.body).backgroundColor"));
        let circles = browser.evaluate("document.querySelectorAll('svg circle').length").as_u64().unwrap();
        assert!(circles >= 20, "{circles}");
        let mut hits = Vec::new();
        for index in (0..circles).step_by(circles as usize / 12) {
            let (x, y) = browser.middle_of(&format!("document.querySelectorAll('svg circle')[{index}]"));
            browser.hover((x, y));
            // A page with a tip of its own takes the title away and keeps its words as the label.
            let hit = browser.evaluate(&format!(
                "(() => {{ const hit = document.elementFromPoint({x}, {y});
                   const title = hit.querySelector('title')?.textContent ?? hit.getAttribute('aria-label');
                   return {{ name: hit.tagName, title, hovered: hit.matches(':hover') }}; }})()"
            ));
            let title = hit["title"].as_str().unwrap_or_default();
            assert!(!title.is_empty() && hit["hovered"] == true, "{view:?}, circle {index}: {hit}");
            hits.push(hit["name"].clone());
        }
        assert!(hits.iter().all(|name| *name == "circle"), "{view:?}: {hits:?}");
    }
    assert!(backgrounds[0] == backgrounds[2] && backgrounds[1] == backgrounds[3], "{backgrounds:?}");
    assert_ne!(backgrounds[0], backgrounds[1], "light and dark look the same");
}

#[test]
fn the_report_page_reads_well_answers_and_sorts() {
    let Some(mut browser) = Browser::start() else { return };
    let (folder, graph) = support::workshop(200);
    let grid = folder.path().join("grid.toml");
    let text = "hidden = [3, 6]\nheads = 1\nlayers = 1\nlambda = [0, 1, 5]\nregulariser = ['causal', \
        'constant']\nseeds = 2\nepochs = 8";
    std::fs::write(&grid, format!("data = '{graph}'\n{text}\nprotocol = ['paper', 'best']\n")).unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    stdout(folder.path(), &["sweep", "--grid", &at("grid.toml"), "--store", &at("store.db")]);
    stdout(folder.path(), &["report", &at("store.db"), "--out", &at("report")]);
    let page = folder.path().join("report/index.html");
    for view in VIEWS {
        assert_sound(&mut browser, &page, view);

        // Pointing at a mark tells what it is.
        let marks = browser.evaluate("document.querySelectorAll('svg .mark').length").as_u64().unwrap();
        assert!(marks >= 4, "{marks}");
        let middle = browser.middle_of("document.querySelector('svg .mark')");
        browser.hover(middle);
        let tip = browser.evaluate(
            "(() => { const tip = document.querySelector('.tip'); return tip.hidden ? '' : tip.textContent; })()",
        );
        assert!(tip.as_str().is_some_and(|tip| tip.chars().any(|c| c.is_ascii_digit())), "{view:?}: {tip}");

        // A click on a heading sorts, a second one reverses.
        let column =
            "[...document.querySelectorAll('th.number')].find(th => new Set([...th.closest('table').tBodies[0].rows]
            .map(row => row.cells[th.cellIndex].dataset.value)).size > 1)";
        let values = format!(
            "(() => {{ const th = {column}; return [...th.closest('table').tBodies[0].rows]
                .map(row => row.cells[th.cellIndex].dataset.value).filter(value => value !== undefined).map(Number); \
                }})()"
        );
        let numbers = |browser: &mut Browser| -> Vec<f64> {
            browser.evaluate(&values).as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let heading = browser.middle_of(column);
        browser.click(heading);
        let ascending = numbers(&mut browser);
        assert!(ascending.len() > 1 && ascending.is_sorted(), "{ascending:?}");
        let heading = browser.middle_of(column);
        browser.click(heading);
        let descending = numbers(&mut browser);
        assert!(descending.iter().rev().is_sorted() && descending != ascending, "{descending:?}");
        assert_eq!(browser.problems(), Vec::<String>::new(), "{view:?}");
    }
}

#[test]
fn hostile_names_are_text_on_the_page_of_explained_edges() {
    let Some(mut browser) = Browser::start() else { return };
    let pair = hostile::Pair::train();
    let out = pair.path("explained");
    stdout(pair.folder(), &["explain", "--base", &pair.base, "--car", &pair.car, "--out", &out]);
    let page = Path::new(&out).join("index.html");
    for view in VIEWS {
        assert_sound(&mut browser, &page, view);
        assert_eq!(browser.evaluate("typeof hacked"), "undefined");
        let cells = format!(
            "[...document.querySelectorAll('td')].filter(td => td.textContent.startsWith('{}'))",
            hostile::SCRIPT.replace('/', "\\/")
        );
        assert!(browser.evaluate(&format!("{cells}.length")).as_u64().unwrap() > 0);
        assert_eq!(browser.evaluate(&format!("{cells}[0].children.length")), 0);

        // A dot tells which edge it is, and its hostile names are text there, too.
        let dot = browser.middle_of(
            "[...document.querySelectorAll('svg circle.mark')].find(dot => \
            /script/.test(dot.textContent + dot.ariaLabel))",
        );
        browser.hover(dot);
        let tip = browser.evaluate("document.querySelector('.tip').textContent");
        assert!(
            tip.as_str().is_some_and(|tip| tip.contains("attends to") && tip.contains("before")),
            "{view:?}: {tip}"
        );
        assert_eq!(browser.evaluate("document.querySelector('.tip').children.length"), 0);
    }
}

#[test]
fn errors_on_a_page_are_noticed() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("a page, 100 % wrong.html");
    std::fs::write(
        &page,
        "<!DOCTYPE html><meta name=viewport content='width=device-width'><body><button>0</button><div style='width: \
         2000px'>wide</div>
         <script>document.querySelector('button').onclick = event => ++event.target.textContent;
         console.error('one'); console.warn('not counted'); setTimeout(() => missing.field);</script><img \
         src=missing.png>",
    )
    .unwrap();
    for view in VIEWS {
        browser.open(&page, view);
        let dark = browser.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
        assert_eq!(dark, view.dark);
        let problems = browser.problems();
        assert_eq!(problems.len(), 3, "{problems:?}");
        for part in ["\"one\"", "missing is not defined", "missing.png"] {
            assert!(problems.iter().any(|problem| problem.contains(part)), "{part}: {problems:?}");
        }
        assert!(browser.evaluate("document.documentElement.scrollWidth").as_u64().unwrap() >= 2000);
        let button = browser.middle_of("document.querySelector('button')");
        browser.click(button);
        browser.click(button);
        assert_eq!(browser.evaluate("document.querySelector('button').textContent"), "2");
        let screenshot = browser.screenshot();
        assert!(screenshot.starts_with(b"\x89PNG\r\n\x1a\n"));
        let size = |from: usize| u32::from_be_bytes(screenshot[from..from + 4].try_into().unwrap());
        assert_eq!((size(16), size(20)), (view.width, view.height));
    }
    // Problems are the page's own: a fresh one has none.
    std::fs::write(&page, "<!DOCTYPE html><p>fine</p>").unwrap();
    browser.open(&page, View::DESKTOP);
    assert_eq!(browser.problems(), Vec::<String>::new());
}

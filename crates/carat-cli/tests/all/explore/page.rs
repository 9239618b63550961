//! The page and its exported files in a real browser.

use serde_json::Value;

use super::{HOSTILE, Running, hostile_name, workshop};
use crate::support::browser::{Browser, View};
use crate::support::stdout;

const PHONE: View = View { width: 380, ..View::PHONE };

/// The middle of an edge that can be clicked, in the middle of the window.
fn on_edge(browser: &mut Browser, place: usize) -> (f64, f64) {
    let at = browser.evaluate(&format!(
        "(() => {{ const hit = document.querySelectorAll('svg.panel .edge .hit')[{place}];
           hit.scrollIntoView({{ block: 'center', behavior: 'instant' }});
           const point = hit.getPointAtLength(0.15 * hit.getTotalLength()), frame = hit.getScreenCTM();
           return [point.x * frame.a + frame.e, point.y * frame.d + frame.f]; }})()"
    ));
    (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
}

fn text(browser: &mut Browser, selector: &str) -> String {
    browser.evaluate(&format!("document.querySelector('{selector}').textContent")).as_str().unwrap().to_string()
}

fn wait_for_node(browser: &mut Browser, id: u32) {
    browser
        .wait_for(&format!("state.view?.node.id === {id} && document.querySelectorAll('#table tbody tr').length >= 0"));
}

/// What holds whatever is shown: no error, nothing too wide, no markup made of names.
fn assert_sound(browser: &mut Browser, view: View) {
    assert_eq!(browser.problems(), Vec::<String>::new(), "{view:?}");
    let width = browser.evaluate("document.documentElement.scrollWidth").as_u64().unwrap();
    assert!(width <= u64::from(view.width), "{view:?}: the page is {width} wide");
    assert_eq!(browser.evaluate("innerWidth"), view.width, "{view:?}");
    assert_eq!(browser.evaluate("document.querySelectorAll('img, iframe, object, main b').length"), 0);
}

#[test]
fn somebody_looks_around() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = workshop();
    let server = Running::start(folder.path(), &["--node", "#11"]);
    let address = format!("http://{}/", server.host);
    for view in [View::DESKTOP, View::DESKTOP.dark(), PHONE, PHONE.dark()] {
        browser.visit(&address, view);
        wait_for_node(&mut browser, 11);
        assert_sound(&mut browser, view);

        // Two panels with the same rows; names are text, whatever stands in them.
        assert_eq!(browser.evaluate("document.querySelectorAll('svg.panel').length"), 2);
        let names = browser.evaluate(
            "[...document.querySelectorAll('#table tbody tr')].map(row => row.querySelector('bdi').textContent)",
        );
        let names: Vec<&str> = names.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        for node in 0..HOSTILE.len() {
            assert!(names.contains(&hostile_name(node).as_str()), "{node}: {names:?}");
        }
        let rows = "[...document.querySelectorAll('svg.panel')].map(panel => \
            [...panel.querySelectorAll('.node')].map(node => node.dataset.source).join())";
        let rows = browser.evaluate(rows);
        assert_eq!(rows[0], rows[1]);

        // Pointing at an edge tells its numbers.
        let point = on_edge(&mut browser, 1);
        browser.hover(point);
        let tip = text(&mut browser, ".tip");
        for part in ["attention 0.", "log-likelihood ", "effect 0.", "loss ", "rho ", "Paper 11"] {
            assert!(tip.contains(part), "{view:?}: {part} is not in {tip}");
        }

        // A click deletes it: the same numbers as the server's, computed for this click.
        browser.click(point);
        browser.wait_for("state.without !== null && !document.getElementById('intervention').hidden");
        let source = browser.evaluate("state.deleted").as_u64().unwrap();
        let (_, _, body) = server.get(&format!("/api/without?src={source}&dst=11"));
        let live: Value = serde_json::from_str(&body).unwrap();
        for run in 0..2 {
            let said =
                browser.evaluate(&format!("document.querySelectorAll('#intervention .outcome')[{run}].textContent"));
            let effect = format!("effect is {:.3}", live["runs"][run]["effect"].as_f64().unwrap());
            assert!(said.as_str().unwrap().contains(&effect), "{effect} is not in {said}");
        }
        assert_eq!(browser.evaluate("document.querySelectorAll('svg .edge.cut').length"), 2);
        assert!(browser.evaluate("document.querySelectorAll('#intervention .bar.after').length").as_u64() >= Some(6));
        assert_sound(&mut browser, view);
        browser.press("Escape");
        browser.wait_for("state.deleted === null && document.getElementById('intervention').hidden");

        // A click on a node walks there; the browser's back button walks back.
        let node = browser.middle_of("document.querySelector('svg.panel .node[data-source=\"3\"] circle')");
        browser.click(node);
        wait_for_node(&mut browser, 3);
        assert_eq!(text(&mut browser, "#name"), hostile_name(3));
        assert_eq!(browser.evaluate("document.activeElement.id"), "name");
        assert_sound(&mut browser, view);
        browser.evaluate("history.back()");
        wait_for_node(&mut browser, 11);
    }
}

#[test]
fn everything_is_reached_with_the_keyboard() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = workshop();
    let server = Running::start(folder.path(), &["--node", "#11"]);
    browser.visit(&format!("http://{}/", server.host), View::DESKTOP);
    wait_for_node(&mut browser, 11);

    // Looking up.
    browser.evaluate("document.getElementById('query').focus()");
    browser.type_text("script");
    browser.wait_for("document.querySelectorAll('[role=option]').length === 1");
    assert_eq!(text(&mut browser, "[role=option] bdi"), hostile_name(1));
    browser.press("ArrowDown");
    assert_eq!(
        browser.evaluate("document.getElementById('query').getAttribute('aria-activedescendant')"),
        "suggestion-0"
    );
    browser.press("Enter");
    wait_for_node(&mut browser, 1);
    browser.evaluate("document.getElementById('query').focus()");
    browser.type_text("no such node anywhere");
    browser.wait_for("document.querySelector('#suggestions .remark') !== null");
    browser.press("Escape");
    assert_eq!(browser.evaluate("document.getElementById('suggestions').hidden"), true);
    browser.evaluate("document.getElementById('query').value = ''");
    browser.type_text("#11");
    browser.press("Enter");
    wait_for_node(&mut browser, 11);

    // In the picture: down to the second edge, delete it, to its node, go there.
    browser.evaluate("document.querySelector('svg.panel .edge').focus({ focusVisible: true })");
    browser.press("ArrowDown");
    assert!(text(&mut browser, ".tip").contains("attention"), "the focus tells what it is on");
    let second = browser.evaluate("document.activeElement.dataset.source").as_str().unwrap().to_string();
    assert_eq!(browser.evaluate("document.querySelectorAll('svg.panel .edge')[1].dataset.source"), second.as_str());
    browser.press("Enter");
    browser.wait_for(&format!("state.deleted === {second}"));
    assert_eq!(browser.evaluate("document.activeElement.getAttribute('aria-pressed')"), "true");
    assert!(text(&mut browser, "#spoken").contains("Without the edge from"));
    browser.press("ArrowLeft");
    browser.press("Enter");
    wait_for_node(&mut browser, second.parse().unwrap());

    // A hub shows the edges with most attention and says how many are left out; filters and sorting act on picture and
    // table.
    browser.evaluate("location.hash = '0'");
    wait_for_node(&mut browser, 0);
    let rows = "document.querySelectorAll('#table tbody tr').length";
    assert_eq!(browser.evaluate(rows), 20);
    assert!(text(&mut browser, "#note").contains("38 with less attention"), "{}", text(&mut browser, "#note"));
    let set = |id: &str, value: &str, event: &str| {
        format!(
            "(() => {{ const input = document.getElementById('{id}'); input.value = '{value}';
            input.dispatchEvent(new Event('{event}', {{ bubbles: true }})); }})()"
        )
    };
    browser.evaluate(&set("limit", "80", "change"));
    browser.wait_for(&format!("{rows} === 58"));
    browser.evaluate(&set("class", "same", "input"));
    let same = browser.evaluate(rows).as_u64().unwrap();
    assert!(same > 0 && same < 58, "{same}");
    browser.evaluate(&set("effect", "below", "input"));
    assert!(browser.evaluate(rows).as_u64().unwrap() < same || text(&mut browser, "#note").contains("hide"));
    browser.evaluate(&set("effect", "any", "input"));
    browser.evaluate(&set("class", "any", "input"));
    browser.evaluate(&set("which", "5", "change"));
    browser.wait_for("state.which.layer === 1 && state.which.head === 0 && !state.stale");
    let values = "[...document.querySelectorAll('#table tbody tr')].map(row => Number(row.cells[6].textContent))";
    browser.evaluate("document.querySelector('th[data-key=delta-0] button').click()");
    let sorted: Vec<f64> = browser.evaluate(values).as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert!(sorted.len() == 58 && sorted.iter().rev().is_sorted(), "{sorted:?}");
    let picture = browser.evaluate(
        "[...document.querySelectorAll('svg.panel')[1].querySelectorAll('.node')].map(node \
        => node.dataset.source).join()",
    );
    let table =
        browser.evaluate("[...document.querySelectorAll('#table tbody tr')].map(row => row.dataset.source).join()");
    assert_eq!(picture, table);

    // The picture as a file is whole XML without a class or a style sheet, and a PNG can be made of it.
    browser.evaluate("location.hash = '11'");
    wait_for_node(&mut browser, 11);
    let problem = browser.evaluate(
        "new DOMParser().parseFromString(sheet().text, \
        'image/svg+xml').querySelector('parsererror')?.textContent ?? ''",
    );
    assert_eq!(problem, "");
    let sheet = browser.evaluate("sheet().text").as_str().unwrap().to_string();
    assert!(sheet.contains("&lt;img") && !sheet.contains("class=") && !sheet.contains("var(--"), "{sheet}");
    browser.evaluate("window.saved = []; save = (blob, ending) => window.saved.push([blob.size, ending]); 0");
    browser.evaluate("document.getElementById('save-svg').click(), document.getElementById('save-png').click()");
    browser.wait_for("window.saved.length === 2");
    let saved = browser.evaluate("window.saved");
    assert!(saved.as_array().unwrap().iter().all(|file| file[0].as_u64() > Some(2000)), "{saved}");
    assert_eq!(browser.problems(), Vec::<String>::new());

    // Addresses that lead nowhere are said, and do no harm.
    browser.evaluate("location.hash = '999'");
    browser.wait_for("document.getElementById('message').textContent.includes('no node 999')");
    browser.evaluate("location.hash = '11/59'");
    browser.wait_for("document.getElementById('message').textContent.includes('no edge from 59 to 11')");
    browser.evaluate("location.hash = '59'");
    wait_for_node(&mut browser, 59);
    assert!(text(&mut browser, "#note").contains("no in-edges"));
}

#[test]
fn an_exported_file_needs_no_server() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = workshop();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let page = folder.path().join("node.html");
    let export = ["explore", &at("plain"), &at("car"), "--node", "Paper 11", "--export", &at("node.html")];
    let said = stdout(folder.path(), &[&export[..], &["--hops", "2", "--edges", "9"]].concat());
    assert!(said.starts_with("10 nodes -> "), "{said}");
    for view in [View::DESKTOP, PHONE.dark()] {
        browser.open(&page, view);
        wait_for_node(&mut browser, 11);
        assert_sound(&mut browser, view);
        let point = on_edge(&mut browser, 0);
        browser.hover(point);
        assert!(text(&mut browser, ".tip").contains("attention 0."));
        browser.click(point);
        browser.wait_for("state.without !== null");
        assert_eq!(browser.evaluate("document.querySelectorAll('#intervention .outcome').length"), 2);
        browser.press("Escape");
        browser.wait_for("state.deleted === null");
        let node = browser.middle_of("document.querySelector('svg.panel .node circle')");
        browser.click(node);
        browser.wait_for("state.view.node.id !== 11");
        assert!(text(&mut browser, "#table").len() > 20 || text(&mut browser, "#note").contains("no in-edges"));
        assert_sound(&mut browser, view);
    }
    // The file with one view has no walk and no search; what is not in it is said so.
    let one = stdout(folder.path(), &export);
    assert!(one.starts_with("1 node -> "), "{one}");
    browser.open(&page, View::DESKTOP);
    wait_for_node(&mut browser, 11);
    assert_eq!(browser.evaluate("document.getElementById('search').hidden"), true);
    assert_eq!(browser.evaluate("document.querySelectorAll('svg.panel .node:not(.far)').length"), 0);
    assert_sound(&mut browser, View::DESKTOP);
}

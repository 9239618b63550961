//! `carat demo`, by the real binary: the page, the JSON, and that both tell the same.

use std::fs;
use std::path::Path;

use crate::support::{assert_fails, carat, json, stdout};
use serde_json::Value;

const SMALL: [&str; 5] = ["demo", "--seeds", "2", "--nodes", "200"];

fn with_out<'a>(extra: &[&'a str], out: &'a Path) -> Vec<&'a str> {
    [&SMALL[..], extra, &["--out", out.to_str().unwrap()]].concat()
}

/// The JSON that the page carries.
fn embedded(page: &str) -> Value {
    let start = page.split("<script type=\"application/json\" id=\"report\">").nth(1).unwrap();
    serde_json::from_str(start.split("</script>").next().unwrap()).unwrap()
}

#[test]
fn the_page_is_whole_and_self_contained() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("demo.html");
    let text = stdout(folder.path(), &with_out(&[], &out));
    for part in
        ["What is attention?", "What did we plant?", "than its control", "With 2 graphs no difference", "demo.html"]
    {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let page = fs::read_to_string(&out).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file was left");

    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    for address in ["http://", "https://", "src=", "href=", "url(", "@import"] {
        assert!(!page.contains(address), "{address}");
    }
    for measure in ["Faithfulness", "Attention on spurious edges", "Test loss", "Test accuracy"] {
        assert!(page.contains(&format!("<h3>{measure} against the strength of the shortcut</h3>")), "{measure}");
    }
    assert_eq!(page.matches("<svg ").count(), 12);
    for tag in [
        "html", "head", "body", "main", "figure", "svg", "table", "caption", "tr", "ul", "li", "title", "text",
        "script",
    ] {
        let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        assert!(opened > 0, "{tag}");
    }
    assert!(!page.contains("NaN"));
}

#[test]
fn json_is_what_the_page_shows_and_the_same_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first.html"), folder.path().join("second.html"));
    let mut printed = json(folder.path(), &with_out(&[], &first));
    let again = json(folder.path(), &with_out(&["--threads", "1"], &second));
    let page = fs::read_to_string(&first).unwrap();
    assert_eq!(page, fs::read_to_string(&second).unwrap());
    assert_eq!(printed["arms"], again["arms"]);

    let fields = printed.as_object_mut().unwrap();
    assert_eq!(fields.remove("page").unwrap(), first.to_str().unwrap());
    assert_eq!(printed, embedded(&page));

    let arms = printed["arms"].as_array().unwrap();
    assert_eq!(arms.len(), 3 * 3 * 3 + 3);
    for arm in arms {
        let runs: Vec<f64> =
            arm["runs"].as_array().unwrap().iter().map(|run| run["test_accuracy"].as_f64().unwrap()).collect();
        assert_eq!(runs.len(), 2);
        let (mean, deviation) = ((runs[0] + runs[1]) / 2.0, (runs[0] - runs[1]).abs() / 2f64.sqrt());
        let found = &arm["test_accuracy"];
        assert!((found["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
        assert!((found["deviation"].as_f64().unwrap() - deviation).abs() < 1e-12);
        assert_eq!(arm["spurious_attention"].is_null(), arm["treatment"] == "oracle");
        if arm["treatment"] != "oracle" {
            // A cell shows the rounded number and keeps the number that it sorts by.
            let shown = format!(">{mean:.3}</td>");
            let cells = page.split("<td class=\"number\"").skip(1);
            assert!(
                cells.filter_map(|cell| cell.split_inclusive("</td>").next()).any(|c| c.ends_with(&shown)),
                "{shown}"
            );
        }
    }
    let comparisons = printed["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 3 * (3 + 1) * 2 * 4);
    for comparison in comparisons {
        // Two pairs: both up, both down, or one each way.
        let p = |name: &str| (comparison[name].as_f64().unwrap() * 4.0) as u32;
        assert!((1..=4).contains(&p("p_better")) && (1..=4).contains(&p("p_worse")), "{comparison}");
        assert_eq!(comparison["verdict"], "unclear");
    }
}

#[test]
fn other_seeds_other_numbers_and_the_page_tells_how_to_repeat_them() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("demo.html");
    let small = ["demo", "--seeds", "1", "--nodes", "120", "--lambda", "0.5", "--every-node"];
    let run = |extra: &[&str]| {
        let printed = json(folder.path(), &[&small[..], extra, &["--out", out.to_str().unwrap()]].concat());
        (printed, fs::read_to_string(&out).unwrap())
    };
    let ((first, _), (second, page)) = (run(&[]), run(&["--seed", "7"]));
    assert_ne!(first["arms"][0]["test_loss"], second["arms"][0]["test_loss"]);
    assert_eq!(second["arms"][0]["runs"][0]["seed"], 7);
    assert_eq!(second["arms"].as_array().unwrap().len(), 3 * 3 * 5 + 3);
    assert!(page.contains("carat demo --seed 7 --seeds 1 --nodes 120 --lambda 0.5 --every-node"));
    assert!(page.contains("Test loss, lower is better: CAR at every node and control at every node"));
}

#[test]
fn wrong_arguments_are_named_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("demo.html");
    let run = |extra: &[&str], out: &Path| {
        carat(folder.path(), &[&["demo"], extra, &["--out", out.to_str().unwrap()]].concat())
    };
    for seeds in ["0", "18446744073709551615"] {
        assert_fails(&run(&["--seeds", seeds], &out), 2, &["seeds must be between 1 and"]);
    }
    assert_fails(&run(&["--nodes", "7"], &out), 2, &["nodes"]);
    assert_fails(&run(&["--lambda", "0"], &out), 2, &["lambda must be above 0"]);
    assert_fails(&run(&["--lambda", "NaN"], &out), 2, &["lambda must lie between 0"]);
    assert_fails(&run(&["--lambda", "1,2,3"], &out), 2, &["lambda has 3 values"]);
    assert_fails(&run(&[], &folder.path().join("none/demo.html")), 2, &["there is no folder"]);
    assert_fails(&run(&[], folder.path()), 2, &["is a folder"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

//! `carat explain` as a user runs it: on a folder of hostile names, against `carat attention` and `carat effects`.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::csv::rows;
use crate::support::hostile::{FORMULA, Pair, SCRIPT};
use crate::support::{self, carat, json, stdout};

#[test]
fn every_edge_has_its_attention_effect_and_properties() {
    let pair = Pair::train();
    let out = pair.path("explained");
    let said = stdout(pair.folder(), &["explain", "--base", &pair.base, "--car", &pair.car, "--out", &out]);
    for part in ["Most up-weighted", "Most down-weighted", "up-weighted edges have", "Self-citations", "index.html"] {
        assert!(said.contains(part), "'{part}' is not in: {said}");
    }
    assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "names command the terminal: {said}");

    let edges = rows(&Path::new(&out).join("edges.csv"));
    let header = "src,src_id,dst,dst_id,base,car,difference,change,rank,delta,effect,effect_rank,\
                  src_degree,dst_degree,same_class,similarity,year_gap,self_citation,anchor,narrow\n";
    assert!(std::fs::read_to_string(Path::new(&out).join("edges.csv")).unwrap().starts_with(header));
    let means = |run: &str| {
        let file = pair.path("attention.csv");
        stdout(pair.folder(), &["attention", "--run", run, "--out", &file]);
        let all = rows(Path::new(&file));
        let per_edge = all.len() / edges.len();
        let mean =
            |rows: &[BTreeMap<String, f64>]| rows.iter().map(|row| row["alpha"]).sum::<f64>() / rows.len() as f64;
        all.chunks(per_edge).map(mean).collect::<Vec<f64>>()
    };
    let (base, car) = (means(&pair.base), means(&pair.car));
    let effects = pair.path("effects.csv");
    stdout(pair.folder(), &["effects", "--run", &pair.car, "--out", &effects]);
    let effects = rows(Path::new(&effects));
    for (e, row) in edges.iter().enumerate() {
        assert!((row["base"] - base[e]).abs() < 1e-6 && (row["car"] - car[e]).abs() < 1e-6, "{row:?}");
        let change = 100.0 * (row["car"] / row["base"] - 1.0);
        // The file has attention in the fewest digits that tell it from its neighbours.
        assert!((row["change"] - change).abs() < 1e-4 * change.abs().max(1.0), "{row:?}: {change}");
        assert_eq!(
            (row["src"], row["dst"], row["effect"]),
            (effects[e]["src"], effects[e]["dst"], effects[e]["effect"])
        );
        assert_eq!((row["dst_degree"], row["rank"] < 0.0), (effects[e]["degree"], effects[e]["degree"] == 1.0));
        assert_eq!(row["same_class"], f64::from(u8::from(row["src"] % 2.0 == row["dst"] % 2.0)));
        assert_eq!(row["year_gap"], row["dst"] - row["src"]);
        assert_eq!(row["self_citation"], f64::from(u8::from(row["src"] % 5.0 == row["dst"] % 5.0)));
    }
    let mut ranked: Vec<&BTreeMap<String, f64>> = edges.iter().filter(|row| row["rank"] > 0.0).collect();
    ranked.sort_by(|a, b| a["rank"].total_cmp(&b["rank"]));
    assert!(ranked.len() < edges.len() && ranked.windows(2).all(|pair| pair[0]["difference"] >= pair[1]["difference"]));
}

#[test]
fn hostile_names_are_text_in_every_file() {
    let pair = Pair::train();
    let out = pair.path("explained");
    let found =
        json(pair.folder(), &["explain", "--base", &pair.base, "--car", &pair.car, "--top", "3", "--out", &out]);
    for key in ["edges", "ranked", "alone", "up_weighted", "up", "down", "separates", "groups", "files", "runs"] {
        assert!(!found[key].is_null(), "{key}: {found}");
    }
    assert_eq!((found["unchanged"].as_bool(), found["up"].as_array().unwrap().len()), (Some(false), 3));
    assert_eq!(found["groups"][0]["group"], "self_citation");
    assert!(found["groups"][0]["missing"].is_null());
    let folder = Path::new(&out);
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(page.contains("&lt;script&gt;hacked=1&lt;/script&gt;"));
    let nodes = std::fs::read_to_string(folder.join("nodes.csv")).unwrap();
    assert!(nodes.starts_with("node,id,label,class,name,year,authors\n"));
    assert!(nodes.contains(&format!("'{FORMULA}")) && !nodes.contains(&format!(",{FORMULA}")), "{nodes}");
    for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(&file).unwrap();
        if file.extension().is_some_and(|ending| ending == "svg") {
            assert!(!text.contains(SCRIPT), "{}", file.display());
        }
        if file.extension().is_some_and(|ending| ending == "csv") {
            let cells = text.lines().flat_map(|line| line.split(','));
            assert!(cells.into_iter().all(|cell| !cell.trim_matches('"').starts_with('=')), "{}", file.display());
        }
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count() as u64, found["files"].as_u64().unwrap());
}

#[test]
fn one_file_alone_and_other_formats() {
    let pair = Pair::train();
    let explain = |out: &str, flags: &[&str]| {
        let out = pair.path(out);
        stdout(pair.folder(), &[&["explain", "--base", &pair.base, "--car", &pair.car, "--out", &out], flags].concat())
    };
    let said = explain("edges.csv", &["--no-effects", "--threads", "1"]);
    assert!(
        said.contains("Not compared: causal effect, because effects were not measured.") && said.contains(" edges -> ")
    );
    let table = std::fs::read_to_string(pair.path("edges.csv")).unwrap();
    assert!(table.starts_with("src,src_id,dst,dst_id,base,car,difference,change,rank,src_degree,"));
    explain("again.csv", &["--no-effects", "--threads", "3"]);
    assert_eq!(table, std::fs::read_to_string(pair.path("again.csv")).unwrap(), "threads change nothing");
    explain("page.html", &["--no-effects"]);
    assert!(std::fs::read_to_string(pair.path("page.html")).unwrap().starts_with("<!DOCTYPE html>"));
    explain("folder", &["--format", "parquet"]);
    for file in ["edges.parquet", "nodes.parquet"] {
        assert!(std::fs::read(Path::new(&pair.path("folder")).join(file)).unwrap().starts_with(b"PAR1"));
    }
}

#[test]
fn identical_and_swapped_runs_are_reported() {
    let pair = Pair::train();
    let page = pair.path("page.html");
    let explain = |base: &str, car: &str| {
        stdout(pair.folder(), &["explain", "--base", base, "--car", car, "--no-effects", "--out", &page])
    };
    let alike = explain(&pair.base, &pair.base);
    assert!(alike.contains("Both networks weigh every edge alike") && !alike.contains("Most up-weighted"), "{alike}");
    assert!(alike.contains("Neither run is regularised."), "{alike}");
    assert!(explain(&pair.car, &pair.base).contains("is it the other way round?"));
    let output = carat(pair.folder(), &["explain", "--base", &pair.base, "--car", &pair.car, "--share", "0.7"]);
    support::assert_fails(&output, 2, &["share must be above 0 and at most 0.5, and 0.7 is not"]);
}

//! `carat data list`

use carat_graph::catalogue::{self, Entry};
use serde::Serialize;

use crate::arguments::{DataFolder, Format};
use crate::failure::Failure;
use crate::output::{bytes, show, table, thousands};

/// Show the public datasets and which of them are in the data folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat data list
  carat data list --json --data-dir /big/disk/data")]
pub struct Args {
    #[command(flatten)]
    data: DataFolder,
    #[command(flatten)]
    format: Format,
}

#[derive(Serialize)]
struct Listing {
    data_dir: String,
    datasets: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    layout: &'static str,
    about: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    graphs: Option<u64>,
    nodes: u64,
    edges: u64,
    features: u64,
    classes: u64,
    splits: u64,
    bytes: Option<u64>,
    present: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variants: Vec<String>,
}

/// Prints the catalogue.
pub fn run(args: Args) -> Result<(), Failure> {
    let data_dir = args.data.path();
    let row = |entry: &Entry| Row {
        name: entry.name.clone(),
        layout: entry.layout.name(),
        about: entry.about.clone(),
        graphs: entry.facts.graphs,
        nodes: entry.facts.nodes,
        edges: entry.facts.edges,
        features: entry.facts.features,
        classes: entry.facts.classes,
        splits: entry.facts.splits,
        bytes: entry.total_size(),
        present: entry.is_present(&data_dir),
        variants: entry.variants.clone(),
    };
    let datasets = catalogue::entries().iter().map(row).collect();
    let listing = Listing { data_dir: data_dir.display().to_string(), datasets };
    show(args.format.json, &listing, || text(&listing))
}

fn text(listing: &Listing) -> String {
    let headings =
        ["name", "layout", ">graphs", ">nodes", ">edges", ">features", ">classes", ">splits", ">size", "here"];
    let cells = |row: &Row| {
        let graphs = row.graphs.unwrap_or(row.variants.len().max(1) as u64);
        vec![
            row.name.clone(),
            row.layout.to_string(),
            thousands(graphs),
            thousands(row.nodes),
            // The members of a family differ a little.
            format!("{}{}", if row.variants.is_empty() { "" } else { "~" }, thousands(row.edges)),
            thousands(row.features),
            thousands(row.classes),
            thousands(row.splits),
            row.bytes.map_or_else(|| "?".to_string(), bytes),
            if row.present { "yes" } else { "-" }.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = listing.datasets.iter().map(cells).collect();
    let mut text = table(&headings, &rows);
    text.push_str(&format!(
        "\nData folder: {}\n'carat data get NAME' fetches one; members of a family have names such as {}.\n",
        listing.data_dir,
        listing.datasets.iter().find_map(|row| row.variants.first()).map_or("", String::as_str)
    ));
    text
}

//! `carat data link`: a graph made of one table.

use std::path::PathBuf;

use carat_graph::link::{Link, Linked, LinkedBy};
use serde::Serialize;

use super::save::{FolderFormat, Target};
use crate::arguments::Format;
use crate::failure::Failure;
use crate::output;

/// Make a graph of one table: rows that share something become neighbours
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat data link payments.csv --by card,device --out week-1
  carat data link payments.csv --by card --id payment --label fraud --order time --out week-1
  carat data link week-1.csv week-2.csv --by card --label fraud --order time --out both
                                     the second week's payments beside the first's, its labels not yet known

Every row becomes a node. Rows with the same text in a column of --by are linked both ways, each with the --nearest \
rows before it and after it, by --order or in the order of the file. A gap links nothing. With several columns, edges \
say which of them link their rows (same_card, same_device), and networks read that.

OUT becomes a folder of tables for 'carat train --data OUT': edges, and nodes with the id, the label and all columns \
but those of --by, which are features. Tables may be .csv, .tsv, either with .gz, or .parquet; of several, all need \
the same columns, but the label may be missing in some.")]
pub struct Args {
    /// Tables, read one after another
    #[arg(value_name = "TABLE", required = true)]
    tables: Vec<PathBuf>,
    /// Columns whose equal texts link rows
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', required = true)]
    by: Vec<String>,
    /// The column that names a row [default: id if there is one, else rows are numbered]
    #[arg(long, value_name = "COLUMN")]
    id: Option<String>,
    /// The column to predict [default: label if there is one]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// The column of numbers or dates that orders rows [default: their order in the file]
    #[arg(long, value_name = "COLUMN")]
    order: Option<String>,
    /// Neighbours before and after a row, for each column of --by
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    nearest: u32,
    /// The folder to write; it must not exist or be empty
    #[arg(long, value_name = "OUT")]
    out: PathBuf,
    /// Format of the tables in the folder [default: csv]
    #[arg(long, value_enum)]
    format: Option<FolderFormat>,
    #[command(flatten)]
    print: Format,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    out: String,
    nodes: usize,
    edges: usize,
    alone: usize,
    by: &'a [LinkedBy],
}

/// Links the rows of tables.
pub fn run(args: Args) -> Result<(), Failure> {
    let Target::Folder(folder, format) = Target::new(&args.out, args.format)? else {
        return Err(Failure::input(format!("--out {}: give a folder, without an ending", args.out.display())));
    };
    let nearest = args.nearest as usize;
    let link = Link { id: args.id, label: args.label, by: args.by, order: args.order, nearest };
    let linked = link.read(&args.tables)?;
    if linked.num_edges() == 0 {
        let by = link.by.join(" or ");
        return Err(Failure::input(format!("no two rows have the same {by}: there is nothing to link")));
    }
    linked.write(&folder, format)?;
    let printed = Printed {
        out: folder.display().to_string(),
        nodes: linked.num_nodes(),
        edges: linked.num_edges(),
        alone: linked.alone,
        by: &linked.by,
    };
    output::show(args.print.json, &printed, || text(&linked, &printed.out))
}

fn text(linked: &Linked, out: &str) -> String {
    let count = |number: usize| output::thousands(number as u64);
    let rows: Vec<Vec<String>> = linked
        .by
        .iter()
        .map(|by| vec![by.column.clone(), count(by.shared), count(by.largest), count(by.pairs)])
        .collect();
    let table = output::table(&["linked by", ">values shared", ">rows of the largest", ">pairs linked"], &rows);
    format!(
        "{table}\n{} nodes, {} edges; {} nodes have no neighbour\n\
         written to  {out}\ngo on with  carat train --data {out}\n",
        count(linked.num_nodes()),
        count(linked.num_edges()),
        count(linked.alone)
    )
}

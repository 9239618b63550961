//! `carat explore`: a page to explore a graph and the runs trained on it.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carat::with_threads;
use carat_explore::{Explorer, Export, Inputs, MOST_EDGES, Server, USUAL_EDGES};
use carat_graph::DataError;
use carat_graph::files::write_atomically;
use serde_json::json;

use crate::arguments::{DataFolder, Format, Threads};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{interrupt, output};

/// Explore a graph in the browser: attention, causal effects, and predictions without an edge
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  carat explore runs/car                                    prints an address to open in a browser
  carat explore runs/plain runs/car                         baseline beside CAR
  carat explore runs/car --node 'Attention Is All You Need' --port 8000
  carat explore runs/plain runs/car --node 1708 --export node.html
  carat explore runs/car --node '#12' --hops 2 --export walk.html

The page draws the in-edges of a node: wider edges have more attention; blue edges improve the prediction, orange \
edges mislead. Click an edge to see the prediction without it, click a node to go there. Ctrl-C stops the server.

The server listens on 127.0.0.1 only and refuses requests from other web sites. --export starts no server: it writes \
the same page as one file that opens from disk, with every intervention on the edges it shows. --hops says how far the \
file goes: 2 includes the views of the node's in-neighbours, 3 also those of their in-neighbours.")]
pub struct Args {
    /// Run folder, as made by 'carat train', or two to compare: the baseline first
    #[arg(value_name = "RUN", required = true, num_args = 1..=2)]
    runs: Vec<PathBuf>,
    /// Dataset name or path [default: what the runs were trained on]
    #[arg(long, value_name = "NAME|PATH")]
    data: Option<String>,
    #[command(flatten)]
    data_folder: DataFolder,
    /// Node to start at: its name or its number; '#12' is always a number [default: one with many in-edges]
    #[arg(long, value_name = "NAME|ID")]
    node: Option<String>,
    /// Port of 127.0.0.1 to listen on [default: a free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true, conflicts_with = "export")]
    port: u16,
    /// Write the page of --node as one HTML file instead of starting a server
    #[arg(long, value_name = "FILE", requires = "node")]
    export: Option<PathBuf>,
    /// How far the exported file goes: 1 is the node with its in-neighbours
    #[arg(long, value_name = "N", default_value_t = 1, requires = "export")]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=4))]
    hops: u8,
    /// In-edges per node in the exported file: those with the most attention
    #[arg(long, value_name = "N", default_value_t = USUAL_EDGES, requires = "export", value_parser = parse_edges)]
    edges: usize,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    format: Format,
}

fn parse_edges(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(edges @ 1..=MOST_EDGES) => Ok(edges),
        _ => Err(format!("a number from 1 to {MOST_EDGES} is needed")),
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Failure> {
    if let Some(out) = &args.export {
        output::check_folder_of("--export", out)?;
    }
    let interrupted = interrupt::flag()?;
    let inputs = Inputs::open(&args.runs, args.data.as_deref(), &args.data_folder.path())?;
    with_threads(args.threads.threads, || {
        let mut explorer = Explorer::new(&inputs)?;
        let node = args.node.as_deref().map(|node| explorer.start_at(node)).transpose()?;
        match (&args.export, node) {
            (Some(out), Some(node)) => export(&args, &mut explorer, node, out, &interrupted),
            _ => serve(&args, &mut explorer, &interrupted),
        }
    })?
}

fn serve(args: &Args, explorer: &mut Explorer<'_>, interrupted: &impl Fn() -> bool) -> Result<(), Failure> {
    let server = Server::bind(args.port)?;
    let address = server.url();
    let text = || format!("{address} shows the graph; open it in a browser. Ctrl-C ends.\n");
    output::show(args.format.json, &json!({ "address": address, "port": server.port() }), text)?;
    Ok(carat_explore::serve(server, explorer, interrupted)?)
}

fn export(
    args: &Args,
    explorer: &mut Explorer<'_>,
    node: u32,
    out: &Path,
    interrupted: &impl Fn() -> bool,
) -> Result<(), Failure> {
    let what = Export { node, hops: usize::from(args.hops), edges: args.edges };
    let progress = Progress::new("nodes");
    let page = carat_explore::export(explorer, what, &mut |done, known| {
        progress.show(done as u64, known as u64, "");
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.finish();
    let page = page?;
    write_atomically(out, |file| {
        file.write_all(page.html.as_bytes()).map_err(|e| Failure::from(DataError::write(out, e)))
    })?;
    let shown = out.display().to_string();
    let printed = json!({ "out": shown, "node": node, "nodes": page.views, "more": page.more });
    output::show(args.format.json, &printed, || {
        let more = if page.more { "; more lie within the hops and are left out" } else { "" };
        let nodes = if page.views == 1 { "node" } else { "nodes" };
        format!("{} {nodes}{more} -> {shown}\n", output::thousands(page.views as u64))
    })
}

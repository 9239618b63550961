//! A web page for exploring a graph and a network trained on it: which nodes each node attends to, which edges its
//! prediction depends on, and what the prediction would be without one of them.
//!
//! The page comes from a server that only this machine can reach ([`serve`]), or as one file that needs no server
//! ([`export`]). What it shows is computed on request, from the receptive field of one node.
//!
//! ```
//! use carat::{TrainConfig, Trainer};
//! use carat_explore::{Explorer, Inputs, Run, Which};
//! use carat_graph::generators::{PlantedConfig, planted};
//!
//! let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
//! let config = TrainConfig::default().hidden(8).epochs(3);
//! let split = config.choose_split(&dataset)?;
//! let (network, _) = Trainer::new(&dataset, &split, &config)?.run()?;
//!
//! let inputs = Inputs::new(dataset, vec![Run { name: "mine".into(), config, network }])?;
//! let mut explorer = Explorer::new(&inputs)?;
//! let view = explorer.node(7, 10, Which::default())?;
//! for edge in &view.edges {
//!     println!("{} -> {}: log-likelihood {:+.2}", edge.source.name, view.node.name, edge.runs[0].delta);
//! }
//! # assert_eq!(view.edges.len(), view.node.degree.min(10));
//! # Ok::<(), carat::Error>(())
//! ```

mod display;
mod explorer;
mod export;
mod http;
mod inputs;
mod names;
mod page;
mod routes;
#[cfg(test)]
mod samples;
pub mod view;

pub use explorer::{Explorer, MOST_EDGES, USUAL_EDGES, Which};
pub use export::{Export, ExportedPage, export};
pub use http::Server;
pub use inputs::{Inputs, Run};

use carat::Error;

/// Serves the page to browsers on this machine until `stopped` is true.
pub fn serve(server: Server, explorer: &mut Explorer<'_>, stopped: impl Fn() -> bool) -> Result<(), Error> {
    let page = page::LivePage::new();
    server.serve(|request| routes::answer(explorer, &page, request), stopped)
}

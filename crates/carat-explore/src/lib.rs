//! A page on which a person walks through a graph and sees what a trained network makes of it: whom each node listens to,
//! which edges its prediction rests on, and what it would be without one of them.
//!
//! The page comes from a server that only this machine can reach ([`serve`]), or as one file that needs none
//! ([`export`]). Everything it shows is computed when it is asked for, from the receptive field of one node.
//!
//! ```
//! use carat::{TrainConfig, Trainer};
//! use carat_explore::{Explorer, Material, Run, Which};
//! use carat_graph::generators::{PlantedConfig, planted};
//!
//! let dataset = planted(&PlantedConfig { nodes: 200, ..PlantedConfig::default() })?;
//! let config = TrainConfig::default().hidden(8).epochs(3);
//! let split = config.choose_split(&dataset)?;
//! let (network, _) = Trainer::new(&dataset, &split, &config)?.run()?;
//!
//! let material = Material::new(dataset, vec![Run { name: "mine".into(), config, network }])?;
//! let mut explorer = Explorer::new(&material)?;
//! let view = explorer.node(7, 10, Which::default())?;
//! for edge in &view.edges {
//!     println!("{} -> {}: effect {:.2}", edge.source.name, view.node.name, edge.runs[0].effect);
//! }
//! # assert_eq!(view.edges.len(), view.node.degree.min(10));
//! # Ok::<(), carat::Error>(())
//! ```

mod explorer;
mod export;
mod http;
mod material;
mod names;
mod page;
mod routes;
#[cfg(test)]
mod samples;
pub mod view;
mod words;

pub use explorer::{Explorer, MOST_EDGES, USUAL_EDGES, Which};
pub use export::{Export, ExportedPage, export};
pub use http::Server;
pub use material::{Material, Run};

use carat::Error;

/// Shows the page to whoever opens the server's address in a browser on this machine, until `stopped` says so.
pub fn serve(server: Server, explorer: &mut Explorer<'_>, stopped: impl Fn() -> bool) -> Result<(), Error> {
    let page = page::LivePage::new();
    server.serve(|request| routes::answer(explorer, &page, request), stopped)
}

//! Makes a planted graph of a million nodes and ten million edges and says how long it took:
//! `cargo run --release -p carat-graph --example generate_large [nodes] [mean degree]`.

use std::time::Instant;

use carat_graph::generators::{PlantedConfig, RandomConfig, planted, random};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let nodes = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let mean_degree = arguments.next().map_or(Ok(10.0), |text| text.parse())?;

    let start = Instant::now();
    let data = planted(&PlantedConfig { nodes, mean_degree, ..PlantedConfig::default() })?;
    let (seconds, edges) = (start.elapsed().as_secs_f64(), data.graph().num_edges());
    println!("planted: {} nodes, {edges} edges in {seconds:.2} s", data.num_nodes());

    let start = Instant::now();
    let data = random(&RandomConfig::default())?;
    let (seconds, edges) = (start.elapsed().as_secs_f64(), data.graph().num_edges());
    println!("random: {} nodes, {edges} edges in {seconds:.2} s", data.num_nodes());
    Ok(())
}

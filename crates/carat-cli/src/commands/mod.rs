//! One file (or folder) per command: a `pub struct Args` with its flags and a `pub fn run(args)`.

pub mod attention;
pub mod bench;
pub mod data;
pub mod demo;
pub mod effects;
pub mod explain;
pub mod explainers;
pub mod explore;
mod figures;
pub mod predict;
pub mod report;
pub mod reproduce;
pub mod rewire;
mod run_table;
pub mod sweep;
mod sweeper;
pub mod train;
pub mod trust;
pub mod tune;

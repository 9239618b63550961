//! The `carat` binary. Everything of substance is in the libraries; this crate reads flags and prints.

mod arguments;
mod cli;
mod commands;
mod failure;
mod interrupt;
mod output;
mod progress;

fn main() -> std::process::ExitCode {
    failure::guard(cli::run)
}

//! The `carat` binary. It parses flags and prints; the libraries do the work.

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

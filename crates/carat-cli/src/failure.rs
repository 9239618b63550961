//! How the program fails: one or two lines on stderr, and an exit code.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use carat_graph::{DataError, printable};
use carat_lab::parallel::reason_of_panic;

/// The work failed: network, disk, a run that diverged.
const WORK_FAILED: u8 = 1;
/// The arguments or the input are wrong.
const WRONG_INPUT: u8 = 2;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// An error to show to the user.
    Error {
        /// What is wrong, where, and what to do.
        message: String,
        /// Exit code.
        code: u8,
    },
    /// The reader of stdout has gone (`carat ... | head`). This is not a failure.
    ClosedPipe,
}

impl Failure {
    /// The arguments or the input are wrong.
    pub fn input(message: impl Into<String>) -> Self {
        Self::Error { message: message.into(), code: WRONG_INPUT }
    }

    /// The work failed.
    pub fn work(message: impl Into<String>) -> Self {
        Self::Error { message: message.into(), code: WORK_FAILED }
    }

    /// Writing to stdout failed.
    pub fn stdout(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::work(format!("cannot write to stdout: {error}")),
        }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let code = if error.is_input_error() { WRONG_INPUT } else { WORK_FAILED };
        Self::Error { message: error.to_string(), code }
    }
}

impl From<carat::Error> for Failure {
    fn from(error: carat::Error) -> Self {
        let code = if error.is_input_error() { WRONG_INPUT } else { WORK_FAILED };
        Self::Error { message: error.to_string(), code }
    }
}

/// Runs `command`, prints its error and returns the exit code. A panic is a bug: it is printed in one line with a
/// request to report it, and unwinds so that temporary files are removed.
pub fn guard(command: impl FnOnce() -> Result<(), Failure>) -> ExitCode {
    install_panic_hook();
    match panic::catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(()) | Err(Failure::ClosedPipe)) => ExitCode::SUCCESS,
        Ok(Err(Failure::Error { message, code })) => {
            eprintln!("error: {}", printable(&message));
            ExitCode::from(code)
        }
        Err(_) => ExitCode::from(WORK_FAILED),
    }
}

fn install_panic_hook() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
            default(panic);
        }
        let place = panic.location().map(|l| format!(" at {}:{}", l.file(), l.line())).unwrap_or_default();
        eprintln!(
            "error: carat has a bug: {}{place}; please report this line and your command to its maintainers",
            reason_of_panic(panic.payload())
        );
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn code(failure: Failure) -> Option<u8> {
        match failure {
            Failure::Error { code, .. } => Some(code),
            Failure::ClosedPipe => None,
        }
    }

    #[test]
    fn input_and_work_have_different_codes() {
        assert_eq!(code(DataError::Invalid("x".into()).into()), Some(2));
        assert_eq!(code(DataError::NotDownloaded { name: "cora".into(), data_dir: PathBuf::new() }.into()), Some(2));
        assert_eq!(code(DataError::Download { url: "u".into(), problem: "p".into() }.into()), Some(1));
        assert_eq!(code(Failure::stdout(&io::ErrorKind::BrokenPipe.into())), None);
        assert_eq!(code(Failure::stdout(&io::ErrorKind::StorageFull.into())), Some(1));
    }

    #[test]
    fn a_panic_is_one_line() {
        assert_eq!(reason_of_panic(&"two\n  lines"), "two lines");
        assert_eq!(reason_of_panic(&String::from("owned")), "owned");
        assert_eq!(reason_of_panic(&7), "no reason given");
    }
}

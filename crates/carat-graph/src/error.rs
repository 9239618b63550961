//! Errors about data. Each says where the problem is, what it is and how to fix it.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where in the input something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or the folder when a file is missing from it.
    pub path: PathBuf,
    /// The line, counted from 1, in text files.
    pub line: Option<u64>,
}

impl Place {
    /// The file as a whole.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), line: None }
    }

    /// One line of a file, counted from 1.
    pub fn line(path: impl Into<PathBuf>, line: u64) -> Self {
        Self { path: path.into(), line: Some(line) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.path.display()),
            None => write!(f, "{}", self.path.display()),
        }
    }
}

/// The longest text that [`printable`] leaves whole, in characters.
const LONGEST: usize = 1_000;

/// Makes a message that quotes input safe for a terminal. Control characters become escapes, so that a file can neither
/// break the line nor control the terminal; the middle of a very long message is left out.
pub fn printable(message: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(message);
    if text.contains(char::is_control) {
        let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
        text = text.chars().map(escaped).collect::<String>().into();
    }
    let length = text.chars().count();
    if length > LONGEST {
        let (start, end) = (LONGEST * 3 / 4, LONGEST / 4);
        let shortened: String =
            text.chars().take(start).chain(" ... ".chars()).chain(text.chars().skip(length - end)).collect();
        text = shortened.into();
    }
    text
}

/// Why reading, generating or downloading a dataset failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The operating system refused to read.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The operating system refused to write.
    #[error("{}: cannot write: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A file does not hold what its layout promises.
    #[error("{place}: {}", printable(problem))]
    Malformed {
        /// Where.
        place: Place,
        /// What is wrong and, where it helps, what to do.
        problem: String,
    },
    /// Parts that do not fit together.
    #[error("{}", printable(.0))]
    Invalid(String),
    /// No dataset of this name, and no file of this path.
    #[error("no dataset or file named '{name}'{}", suggestion.as_ref().map_or_else(
        || "; 'carat data list' shows the names, and a path to a .npz or .carat file or a folder works too".to_string(),
        |s| format!("; did you mean '{s}'?")))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest name in the catalogue.
        suggestion: Option<String>,
    },
    /// A catalogue dataset whose files are not in the data folder.
    #[error("{name} is not in the data folder {}; run 'carat data get {name}', or point --data-dir or CARAT_DATA at \
        it", data_dir.display())]
    NotDownloaded {
        /// The dataset.
        name: String,
        /// The folder that was searched.
        data_dir: PathBuf,
    },
    /// The network or the server failed.
    #[error("{url}: {}", printable(problem))]
    Download {
        /// What was being fetched.
        url: String,
        /// What happened, and what to do.
        problem: String,
    },
    /// A fetched or stored file is not the one the catalogue describes.
    #[error("{}: SHA-256 is {found}, but the catalogue has {expected}; the file was not kept", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// From the catalogue.
        expected: String,
        /// Of the bytes received.
        found: String,
    },
}

impl DataError {
    /// A file that does not hold what its layout promises.
    pub fn malformed(path: impl AsRef<Path>, problem: impl Into<String>) -> Self {
        Self::Malformed { place: Place::file(path.as_ref()), problem: problem.into() }
    }

    /// The same, on one line (counted from 1) of a text file.
    pub fn malformed_line(path: impl AsRef<Path>, line: u64, problem: impl Into<String>) -> Self {
        Self::Malformed { place: Place::line(path.as_ref(), line), problem: problem.into() }
    }

    /// The system refused to read `path`.
    pub fn read(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Read { path: path.as_ref().to_path_buf(), source }
    }

    /// The system refused to write `path`.
    pub fn write(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Self::Write { path: path.as_ref().to_path_buf(), source }
    }

    /// Adds the file to an error that arose from parts ([`DataError::Invalid`]); leaves others as they are.
    #[must_use]
    pub fn in_file(self, path: impl AsRef<Path>) -> Self {
        match self {
            Self::Invalid(problem) => Self::malformed(path, problem),
            other => other,
        }
    }

    /// True when the input is to blame (exit code 2), false when the work failed (exit code 1).
    pub fn is_input_error(&self) -> bool {
        !matches!(self, Self::Write { .. } | Self::Download { .. } | Self::Checksum { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_input_cannot_break_the_line_or_command_the_terminal() {
        assert_eq!(printable("'caf\u{e9}' is no number"), "'caf\u{e9}' is no number");
        assert_eq!(printable("'a\nb\u{1b}[2J' is no number"), "'a\\nb\\u{1b}[2J' is no number");
        let error = DataError::malformed("x", format!("'{}' is no number", "\u{e9}".repeat(1 << 20))).to_string();
        assert!(error.chars().count() < 1_100 && error.ends_with("' is no number"), "{error}");
    }
}

//! Progress on stderr: a bar on a terminal, a line every ten seconds elsewhere.

mod sweep;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

pub use sweep::SweepProgress;

/// Time between lines where stderr is not a terminal. Shorter work prints none.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows how far some work is. Threads may share it.
pub struct Progress {
    bar: ProgressBar,
    what: &'static str,
    last_line: Mutex<Instant>,
}

impl Progress {
    /// A display that counts `what`: epochs, edges, bytes.
    pub fn new(what: &'static str) -> Self {
        let template = format!("{{bar:30}} {{human_pos}}/{{human_len}} {what}, {{elapsed}}, {{eta}} left{{msg}}");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(0).with_style(style);
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(500));
        }
        Self { bar, what, last_line: Mutex::new(Instant::now()) }
    }

    /// Starts the clock with `done` of `total` already done, which do not count for the estimated time.
    pub fn start(&self, done: u64, total: u64) {
        self.bar.set_position(done);
        self.bar.set_length(total);
        self.bar.reset_eta();
    }

    /// Shows that `done` of `total` are done, with `message` behind the counts.
    pub fn show(&self, done: u64, total: u64, message: &str) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        if self.bar.message() != message {
            self.bar.set_message(message.to_string());
        }
        self.print_line();
    }

    /// Shows that one more of `total` is done.
    pub fn advance(&self, total: u64) {
        self.bar.set_length(total);
        self.bar.inc(1);
        self.print_line();
    }

    /// Prints a line above the bar.
    pub fn print(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints the counts where there is no bar and the last line is old enough.
    fn print_line(&self) {
        let mut last = self.last_line.lock().unwrap_or_else(PoisonError::into_inner);
        if self.bar.is_hidden() && last.elapsed() >= LINE_EVERY {
            let (done, total, left) = (self.bar.position(), self.bar.length().unwrap_or_default(), self.bar.eta());
            eprintln!("{done}/{total} {}, {} left{}", self.what, HumanDuration(left), self.bar.message());
            *last = Instant::now();
        }
    }
}

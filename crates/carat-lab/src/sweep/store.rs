//! The store: one SQLite file with a row per run.
//!
//! A row's key is a hash of the run's whole configuration, of the data it was computed on and of the code that computed
//! it. A training writes its rows and its curve in one transaction, so a process that is killed leaves either all
//! of them or none.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use carat::metrics::{Figure, RunFigures};
use carat::{Error, TrainConfig};
use carat_graph::DataError;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, ToSql, TransactionBehavior, params};

use super::curve::Curve;
use super::plan::Training;
use super::run::Outcome;
use super::train::Trained;
use super::worker::Worker;

/// The code that computes results: its version and a hash of its sources.
pub const CODE: &str = env!("CARAT_CODE");

/// How long to wait for another process's transaction, each of which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Marks the file as a store of carat ("cara").
const APPLICATION: i32 = 0x6361_7261;
/// The version of the tables. Those of version 1 lack figures, which are added when the store is opened to write.
const VERSION: i32 = 2;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY,
    training TEXT NOT NULL,
    code TEXT NOT NULL,
    data_sum TEXT NOT NULL,
    config TEXT NOT NULL,
    error TEXT,
    epochs INTEGER,
    kept_epoch INTEGER,
    train_seconds REAL,
    finished INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS curves (
    training TEXT PRIMARY KEY,
    epochs INTEGER NOT NULL,
    curve BLOB NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS claims (
    training TEXT PRIMARY KEY,
    worker TEXT NOT NULL
) STRICT;
";

/// The view has the settings that most grids vary, and all figures.
const VIEW: &str = "
CREATE VIEW IF NOT EXISTS results AS
SELECT config ->> 'data' AS data, config ->> 'split' AS split, config ->> 'arch' AS arch, config ->> 'layers' AS layers,
    config ->> 'heads' AS heads, config ->> 'hidden' AS hidden, config ->> 'lambda' AS lambda,
    config ->> 'regulariser' AS regulariser, config ->> 'seed' AS seed, config ->> 'protocol' AS protocol,
    ";

/// An open store. Threads of a process share it; processes share the file.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Mutex<Connection>,
}

/// What a store holds of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The run's key.
    pub key: String,
    /// The key of its training, which names its curve.
    pub training: String,
    /// The code that computed it.
    pub code: String,
    /// The hash of the data it was computed on.
    pub data_sum: String,
    /// Unix time at which it ended, in seconds.
    pub finished: i64,
    /// Its settings.
    pub config: TrainConfig,
    /// Its outcome, or the error that ended it.
    pub result: Result<Outcome, String>,
}

/// The answer to a request for a training.
pub(super) enum Claim {
    /// This process computes its missing runs.
    Ours,
    /// The store has all of it; another process computed this many runs.
    Done(usize),
    /// Another process is computing it.
    Elsewhere,
}

impl Store {
    /// Opens the store at `path`, and creates it where there is none.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let connection = Connection::open(path).map_err(|e| problem(path, &e))?;
        let store = Self { path: path.to_path_buf(), connection: Mutex::new(connection) };
        store.check(true)?;
        store.sql(prepare)?;
        Ok(store)
    }

    /// Opens an existing store, to read from it.
    pub fn open_existing(path: &Path) -> Result<Self, Error> {
        // SQLite's own error does not say why the file cannot be opened.
        std::fs::File::open(path).map_err(|e| DataError::read(path, e))?;
        // A connection with write access removes SQLite's side files when it closes. SQLite still opens a file without
        // write permission, for reading.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(|e| problem(path, &e))?;
        let read = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
        if read.is_err_and(|e| matches!(e.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))) {
            // SQLite cannot create side files in this folder, so no process on this machine can be writing to the
            // store. It is read as an unchanging file.
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            connection = Connection::open_with_flags(immutable(path), flags).map_err(|e| problem(path, &e))?;
        }
        let store = Self { path: path.to_path_buf(), connection: Mutex::new(connection) };
        store.check(false)?;
        Ok(store)
    }

    /// Refuses files that are not stores. An empty file can become one.
    fn check(&self, may_be_empty: bool) -> Result<(), Error> {
        let (application, version, objects): (i32, i32, i64) = self.sql(|connection| {
            connection.busy_timeout(PATIENCE)?;
            let number = |query: &str| connection.query_row(query, [], |row| row.get(0));
            let objects = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            Ok((number("PRAGMA application_id")?, number("PRAGMA user_version")?, objects))
        })?;
        let malformed = |what: &str| Err(DataError::malformed(&self.path, what).into());
        match objects {
            0 if may_be_empty => Ok(()),
            0 => malformed("is not a store of 'carat sweep'"),
            _ if application != APPLICATION => malformed("is a database, but not a store of 'carat sweep'"),
            _ if version > VERSION => malformed("was written by a newer carat; update this one"),
            _ => Ok(()),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked rolled its transaction back, so the connection is still usable.
        self.connection.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn sql<R>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<R>) -> Result<R, Error> {
        work(&mut self.connection()).map_err(|e| problem(&self.path, &e))
    }

    /// Claims the missing runs of a training for `worker`, unless another live process has claimed it. Runs that the
    /// store has by now are removed from the training.
    pub(super) fn claim(&self, training: &mut Training, worker: &Worker) -> Result<Claim, Error> {
        self.sql(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let asked = training.runs.len();
            let mut missing = Vec::new();
            for run in &training.runs {
                let query = "SELECT 1 FROM runs WHERE key = ?1";
                if transaction.query_row(query, [&run.key], |_| Ok(())).optional()?.is_none() {
                    missing.push(run.clone());
                }
            }
            if missing.is_empty() {
                return Ok(Claim::Done(asked));
            }
            training.runs = missing;
            let query = "SELECT worker FROM claims WHERE training = ?1";
            let owner: Option<String> = transaction.query_row(query, [&training.key], |row| row.get(0)).optional()?;
            if owner.is_some_and(|owner| owner != worker.name() && worker.is_alive(&owner)) {
                return Ok(Claim::Elsewhere);
            }
            let claim = "INSERT OR REPLACE INTO claims (training, worker) VALUES (?1, ?2)";
            transaction.execute(claim, params![training.key, worker.name()])?;
            transaction.commit()?;
            Ok(Claim::Ours)
        })
    }

    /// Writes the results of a training in one transaction.
    pub(super) fn finish(&self, training: &Training, trained: &Trained) -> Result<(), Error> {
        let finished = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()) as i64;
        self.sql(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (run, result) in training.runs.iter().zip(&trained.results) {
                // Settings are numbers and text, which always serialise.
                let config = serde_json::to_string(&run.config).unwrap_or_default();
                let (outcome, error) = (result.as_ref().ok(), result.as_ref().err());
                let others: [(&str, &dyn ToSql); 10] = [
                    ("key", &run.key),
                    ("training", &training.key),
                    ("code", &CODE),
                    ("data_sum", &training.data_sum),
                    ("config", &config),
                    ("error", &error),
                    ("epochs", &outcome.map(|o| o.epochs as i64)),
                    ("kept_epoch", &outcome.map(|o| o.kept_epoch as i64)),
                    ("train_seconds", &outcome.map(|o| o.train_seconds)),
                    ("finished", &finished),
                ];
                let figures: Vec<(&str, Option<f64>)> =
                    Figure::all().map(|f| (f.name(), outcome.and_then(|o| o.figures.get(f)))).collect();
                let figures = figures.iter().map(|(name, value)| (*name, value as &dyn ToSql));
                let (names, values): (Vec<&str>, Vec<&dyn ToSql>) = others.into_iter().chain(figures).unzip();
                let places = vec!["?"; names.len()].join(", ");
                let insert = format!("INSERT OR REPLACE INTO runs ({}) VALUES ({places})", names.join(", "));
                transaction.execute(&insert, &values[..])?;
            }
            if trained.results.iter().any(Result::is_ok) {
                transaction.execute(
                    "INSERT INTO curves VALUES (?1, ?2, ?3) ON CONFLICT (training) DO UPDATE SET
                     epochs = excluded.epochs, curve = excluded.curve WHERE excluded.epochs > curves.epochs",
                    params![training.key, trained.curve.epochs() as i64, trained.curve.to_bytes()],
                )?;
            }
            transaction.execute("DELETE FROM claims WHERE training = ?1", [&training.key])?;
            transaction.commit()
        })
    }

    /// Releases all claims of `worker`, which ends before its work is done.
    pub(super) fn release(&self, worker: &Worker) -> Result<(), Error> {
        self.sql(|connection| connection.execute("DELETE FROM claims WHERE worker = ?1", [worker.name()]).map(|_| ()))
    }

    /// Deletes failed runs of these trainings, so that they are computed again.
    pub(super) fn forget_failures(&self, trainings: &[Training]) -> Result<(), Error> {
        self.sql(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for run in trainings.iter().flat_map(|training| &training.runs) {
                transaction.execute("DELETE FROM runs WHERE key = ?1 AND error IS NOT NULL", [&run.key])?;
            }
            transaction.commit()
        })
    }

    /// The keys of all runs, with true for runs that failed.
    pub(super) fn keys(&self) -> Result<HashMap<String, bool>, Error> {
        self.sql(|connection| {
            let mut query = connection.prepare("SELECT key, error IS NOT NULL FROM runs")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// All runs in the store, sorted by key.
    pub fn records(&self) -> Result<Vec<Record>, Error> {
        let rows = self.sql(|connection| {
            let mut query = connection.prepare("SELECT * FROM runs ORDER BY key")?;
            query
                .query_map([], |row| Ok((row.get::<_, String>("config")?, record(row)?)))?
                .collect::<Result<Vec<_>, _>>()
        })?;
        let read = |(config, (key, training, code, data_sum, finished, result)): (String, RecordParts)| {
            let config = serde_json::from_str(&config).map_err(|e| {
                Error::from(DataError::malformed(
                    &self.path,
                    format!("run {key} has settings this carat does not know: {e}"),
                ))
            })?;
            Ok(Record { key, training, code, data_sum, finished, config, result })
        };
        rows.into_iter().map(read).collect()
    }

    /// What is known of the run with this key.
    pub(super) fn result(&self, key: &str) -> Result<Option<Result<Outcome, String>>, Error> {
        let query = "SELECT * FROM runs WHERE key = ?1";
        let parts = self.sql(|connection| connection.query_row(query, [key], record).optional())?;
        Ok(parts.map(|(.., result)| result))
    }

    /// All curves, by their training's key.
    pub(super) fn curves(&self) -> Result<HashMap<String, Curve>, Error> {
        let rows: Vec<(String, Vec<u8>)> = self.sql(|connection| {
            let mut query = connection.prepare("SELECT training, curve FROM curves")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })?;
        let damaged = || Error::from(DataError::malformed(&self.path, "a curve is damaged"));
        let read = |(key, bytes): (String, Vec<u8>)| Ok((key, Curve::from_bytes(&bytes).ok_or_else(damaged)?));
        rows.into_iter().map(read).collect()
    }

    /// The curve of a run, by its key.
    pub fn curve(&self, key: &str) -> Result<Option<Curve>, Error> {
        let query = "SELECT curve FROM curves JOIN runs USING (training) WHERE key = ?1";
        let bytes: Option<Vec<u8>> =
            self.sql(|connection| connection.query_row(query, [key], |row| row.get(0)).optional())?;
        let damaged = || DataError::malformed(&self.path, format!("the curve of run {key} is damaged")).into();
        bytes.map(|bytes| Curve::from_bytes(&bytes).ok_or_else(damaged)).transpose()
    }
}

/// The URI that opens a file as unchanging.
fn immutable(path: &Path) -> String {
    let signs = [("%", "%25"), ("?", "%3f"), ("#", "%23")];
    let path = signs.iter().fold(path.display().to_string(), |path, (sign, code)| path.replace(sign, code));
    format!("file:{path}?immutable=1")
}

/// Creates missing tables, and the columns of figures that the code that made the store did not know.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    // The file keeps this mode. A second process that sets it at the same time only waits.
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    let known: HashSet<String> = transaction
        .prepare("SELECT name FROM pragma_table_info('runs')")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let figures: Vec<&str> = Figure::all().map(Figure::name).collect();
    let missing: Vec<&&str> = figures.iter().filter(|name| !known.contains(**name)).collect();
    for name in &missing {
        transaction.execute_batch(&format!("ALTER TABLE runs ADD COLUMN {name} REAL"))?;
    }
    if !missing.is_empty() {
        transaction.execute_batch("DROP VIEW IF EXISTS results")?;
    }
    transaction.execute_batch(&format!("{VIEW}{}, epochs, train_seconds, error FROM runs", figures.join(", ")))?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

type RecordParts = (String, String, String, String, i64, Result<Outcome, String>);

fn record(row: &Row<'_>) -> rusqlite::Result<RecordParts> {
    let result = match row.get::<_, Option<String>>("error")? {
        Some(error) => Err(error),
        None => Ok(Outcome {
            figures: figures(row)?,
            spurious: None,
            epochs: row.get::<_, i64>("epochs")? as usize,
            kept_epoch: row.get::<_, i64>("kept_epoch")? as usize,
            train_seconds: row.get("train_seconds")?,
        }),
    };
    Ok((row.get("key")?, row.get("training")?, row.get("code")?, row.get("data_sum")?, row.get("finished")?, result))
}

/// The figures of a row. A store that was written before a figure was known has no column for it.
fn figures(row: &Row<'_>) -> rusqlite::Result<RunFigures> {
    let mut figures = RunFigures::default();
    for figure in Figure::all() {
        match row.get(figure.name()) {
            Err(rusqlite::Error::InvalidColumnName(_)) => {}
            value => figures.set(figure, value?),
        }
    }
    Ok(figures)
}

fn problem(path: &Path, error: &rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => DataError::malformed(path, "is not a store of 'carat sweep'").into(),
        Some(ErrorCode::DatabaseCorrupt) => {
            DataError::malformed(path, "is damaged; take a copy from before, or delete it").into()
        }
        Some(ErrorCode::DiskFull) => DataError::write(path, std::io::ErrorKind::StorageFull.into()).into(),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            DataError::write(path, std::io::ErrorKind::PermissionDenied.into()).into()
        }
        _ => DataError::write(path, std::io::Error::other(error.to_string())).into(),
    }
}

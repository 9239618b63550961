//! Fetching catalogue datasets into the data folder.
//!
//! A file appears under its own name only when it is whole and has the catalogue's SHA-256. Until then it is
//! `<name>.part`, which the next attempt, in this process or a later one, resumes. One process at a time fetches into a
//! data folder; others wait.

mod fetch;
mod unpack;

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};
use ureq::http::Uri;

use crate::DataError;
use crate::catalogue::{Entry, FileEntry, Fingerprint, Source};
use fetch::{Expected, FetchError, Fetcher, Job};

/// How much an archive may hold besides the files we want: a licence, a read-me, labels we do not use.
const ARCHIVE_ALLOWANCE: u64 = 16 << 20;

/// The largest file that is fetched without knowing its size.
const MOST_UNKNOWN: u64 = 256 << 20;

/// How to fetch.
#[derive(Debug, Clone)]
pub struct Options {
    /// Take every file from here, as `<mirror>/<path in the data folder>`, instead of from its publisher.
    pub mirror: Option<String>,
    /// Give up connecting after this long.
    pub connect_timeout: Duration,
    /// Give up on a connection that has brought nothing for this long.
    pub stall_timeout: Duration,
    /// Attempts per file that may fail for a passing reason: cut short, stalled, server trouble.
    pub tries: u32,
    /// Pause before the second attempt; it doubles with each further one.
    pub back_off: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mirror: None,
            connect_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(30),
            tries: 3,
            back_off: Duration::from_millis(500),
        }
    }
}

/// What is happening, for a progress display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// Another process is fetching into the same folder.
    Waiting,
    /// So much of a file or archive has arrived.
    Progress {
        /// Path in the data folder, or address of the archive.
        what: &'a str,
        /// Bytes so far.
        received: u64,
        /// Bytes in all, where known.
        size: Option<u64>,
    },
    /// An attempt failed for a passing reason and will be repeated.
    Retry {
        /// Path in the data folder, or address of the archive.
        what: &'a str,
        /// What went wrong.
        problem: &'a str,
        /// How long until the next attempt.
        pause: Duration,
    },
    /// A file is in place, checked.
    Finished {
        /// Path in the data folder.
        path: &'a str,
    },
}

/// What [`get`] did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Paths that were fetched.
    pub fetched: Vec<String>,
    /// Paths that were there already, with the right contents.
    pub present: Vec<String>,
}

/// Downloads every file of `entry` into `data_dir`. Files that already have the right contents are kept; others are
/// replaced.
pub fn get(
    entry: &Entry,
    data_dir: &Path,
    options: &Options,
    report: &mut dyn FnMut(Event<'_>),
) -> Result<Summary, DataError> {
    if let Some(mirror) = options.mirror.as_deref().filter(|mirror| !is_web_address(mirror)) {
        let advice = "give one like https://data.example.org/carat";
        return Err(DataError::Invalid(format!("--mirror '{mirror}' is not a web address; {advice}")));
    }
    let mut summary = Summary::default();
    let mut missing = sort_out(entry.files.iter().collect(), data_dir, &mut summary)?;
    if missing.is_empty() {
        return Ok(summary);
    }
    if options.mirror.is_none() && missing.iter().any(|file| file.source == Source::Unpublished) {
        return Err(DataError::Download {
            url: entry.name.clone(),
            problem: format!(
                "has no public address; copy its files into {}, or name a server that has them with --mirror URL",
                data_dir.join(missing[0].path.split('/').next().unwrap_or_default()).display()
            ),
        });
    }
    fs::create_dir_all(data_dir).map_err(|e| DataError::write(data_dir, e))?;
    let lock = lock(data_dir, report)?;
    // Whoever held the lock before may have fetched the very same files.
    missing = sort_out(missing, data_dir, &mut summary)?;
    let session = Session { fetcher: Fetcher::new(options), data_dir, options, exclusive: lock.is_some() };
    for file in &missing {
        session.fetch(file, &missing, report)?;
        summary.fetched.push(file.path.clone());
    }
    Ok(summary)
}

fn is_web_address(text: &str) -> bool {
    let address = text.parse::<Uri>().ok();
    address.is_some_and(|a| matches!(a.scheme_str(), Some("http" | "https")) && a.host().is_some_and(|h| !h.is_empty()))
}

/// Notes the files that are in place and returns the others.
fn sort_out<'a>(
    files: Vec<&'a FileEntry>,
    data_dir: &Path,
    summary: &mut Summary,
) -> Result<Vec<&'a FileEntry>, DataError> {
    let mut missing = Vec::new();
    for file in files {
        if is_intact(file, data_dir)? {
            summary.present.push(file.path.clone());
        } else {
            missing.push(file);
        }
    }
    Ok(missing)
}

/// True when the file, or the file with `.gz` behind it, holds what the catalogue says.
pub fn is_intact(file: &FileEntry, data_dir: &Path) -> Result<bool, DataError> {
    let plain = data_dir.join(&file.path);
    let Some(wanted) = &file.fingerprint else { return is_archive(&plain) };
    let opened = |path: &Path| match File::open(path) {
        Ok(handle) => Ok(Some(handle)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(DataError::read(path, e)),
    };
    if let Some(handle) = opened(&plain)? {
        let length = handle.metadata().map_err(|e| DataError::read(&plain, e))?.len();
        return Ok(length == wanted.size
            && fingerprint(handle, wanted.size).map_err(|e| DataError::read(&plain, e))? == *wanted);
    }
    let packed = with_suffix(&plain, ".gz");
    match opened(&packed)? {
        // A damaged gzip file counts as a wrong one.
        Some(handle) => {
            Ok(fingerprint(MultiGzDecoder::new(io::BufReader::new(handle)), wanted.size).is_ok_and(|f| f == *wanted))
        }
        None => Ok(false),
    }
}

/// True for an archive whose table of contents, which stands at its end, is there.
fn is_archive(path: &Path) -> Result<bool, DataError> {
    match File::open(path) {
        Ok(file) => Ok(zip::ZipArchive::new(io::BufReader::new(file)).is_ok()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(DataError::read(path, e)),
    }
}

/// SHA-256 and length of at most one byte more than `limit`.
fn fingerprint(reader: impl Read, limit: u64) -> io::Result<Fingerprint> {
    let mut reader = reader.take(limit.saturating_add(1));
    let mut hasher = Sha256::new();
    let mut buffer = vec![0u8; 1 << 16];
    let mut size = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                hasher.update(&buffer[..n]);
                size += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    let sha256 = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Fingerprint { sha256, size })
}

/// Waits for the data folder's lock. `None` where the file system has no locks.
fn lock(data_dir: &Path, report: &mut dyn FnMut(Event<'_>)) -> Result<Option<File>, DataError> {
    let path = data_dir.join(".carat-download.lock");
    let file = File::options().create(true).append(true).open(&path).map_err(|e| DataError::write(&path, e))?;
    let locked = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => {
            report(Event::Waiting);
            file.lock().is_ok()
        }
        Err(TryLockError::Error(_)) => false,
    };
    Ok(locked.then_some(file))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// One call of [`get`] that found something to fetch.
struct Session<'a> {
    fetcher: Fetcher<'a>,
    data_dir: &'a Path,
    options: &'a Options,
    exclusive: bool,
}

impl Session<'_> {
    /// Fetches one file from where it is published. `missing` are all files still needed: an archive that holds several
    /// of them is fetched once.
    fn fetch(
        &self,
        file: &FileEntry,
        missing: &[&FileEntry],
        report: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), DataError> {
        if let Some(mirror) = &self.options.mirror {
            let address = format!("{}/{}", mirror.trim_end_matches('/'), file.path);
            return match (self.fetch_file(&address, &file.path, file.fingerprint.as_ref(), report), &file.packed) {
                (Err(FetchError::Missing(_)), Some(packed)) => {
                    Ok(self.fetch_file(&format!("{address}.gz"), &format!("{}.gz", file.path), Some(packed), report)?)
                }
                (result, _) => Ok(result?),
            };
        }
        match &file.source {
            Source::Address(address) => Ok(self.fetch_file(address, &file.path, file.fingerprint.as_ref(), report)?),
            Source::Archive { address, .. } => {
                // Fetched along with an earlier member of the same archive.
                if is_intact(file, self.data_dir)? {
                    return Ok(());
                }
                let inside = |f: &&FileEntry| matches!(&f.source, Source::Archive { address: a, .. } if a == address);
                let members: Vec<&FileEntry> = missing.iter().copied().filter(inside).collect();
                self.fetch_archive(address, &members, report)
            }
            Source::Unpublished => Err(DataError::Download {
                url: file.path.clone(),
                problem: "has no public address; name a server that has it with --mirror URL".into(),
            }),
        }
    }

    fn fetch_file(
        &self,
        address: &str,
        path: &str,
        wanted: Option<&Fingerprint>,
        report: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), FetchError> {
        let target = self.data_dir.join(path);
        let part = self.part_of(&target)?;
        let expected = wanted.map_or(Expected::AtMost(MOST_UNKNOWN), |wanted| Expected::Exactly(wanted.size));
        let job = Job { address, what: path, part: &part, expected };
        let pieced = self.fetcher.fetch(job, report)?;
        if !is_as_wanted(&part, wanted)? && pieced {
            // The beginning may come from another version of the file, or from a damaged attempt.
            discard(&part)?;
            self.fetcher.fetch(job, report)?;
        }
        install(&part, &target, wanted)?;
        report(Event::Finished { path });
        Ok(())
    }

    fn fetch_archive(
        &self,
        address: &str,
        members: &[&FileEntry],
        report: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), DataError> {
        let own_name = address.rsplit('/').next().unwrap_or("archive.zip");
        let part = self.part_of(&self.data_dir.join(own_name))?;
        let size = |file: &FileEntry| file.fingerprint.as_ref().map_or(MOST_UNKNOWN, |known| known.size);
        let wanted: u64 = members.iter().map(|file| size(file)).sum();
        let expected = Expected::AtMost(wanted.saturating_add(ARCHIVE_ALLOWANCE));
        let job = Job { address, what: address, part: &part, expected };
        let mut result = Ok(());
        // As above, an archive from two responses is fetched once more as a whole.
        for _ in 0..2 {
            let pieced = self.fetcher.fetch(job, report)?;
            result = members.iter().try_for_each(|file| {
                let Source::Archive { member, .. } = &file.source else { return Ok(()) };
                let target = self.data_dir.join(&file.path);
                let member_part = self.part_of(&target)?;
                if let Err(error) = unpack::member(&part, address, member, &member_part, size(file)) {
                    discard(&member_part)?;
                    return Err(error);
                }
                install(&member_part, &target, file.fingerprint.as_ref())?;
                report(Event::Finished { path: &file.path });
                Ok(())
            });
            discard(&part)?;
            if result.is_ok() || !pieced {
                break;
            }
        }
        result
    }

    /// The part file. Without a lock it needs a name that no other process uses.
    fn part_of(&self, target: &Path) -> Result<PathBuf, DataError> {
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(|e| DataError::write(folder, e))?;
        }
        Ok(if self.exclusive {
            with_suffix(target, ".part")
        } else {
            with_suffix(target, &format!(".{}.part", std::process::id()))
        })
    }
}

fn fingerprint_of(path: &Path) -> Result<Fingerprint, DataError> {
    File::open(path).and_then(|file| fingerprint(file, u64::MAX)).map_err(|e| DataError::read(path, e))
}

fn is_as_wanted(path: &Path, wanted: Option<&Fingerprint>) -> Result<bool, DataError> {
    wanted.map_or_else(|| is_archive(path), |wanted| Ok(fingerprint_of(path)? == *wanted))
}

/// Renames a finished part to its final name, or deletes it if its contents are wrong.
fn install(part: &Path, target: &Path, wanted: Option<&Fingerprint>) -> Result<(), DataError> {
    if !is_as_wanted(part, wanted)? {
        let found = fingerprint_of(part)?.sha256;
        discard(part)?;
        return Err(match wanted {
            Some(wanted) => DataError::Checksum { path: target.to_path_buf(), expected: wanted.sha256.clone(), found },
            None => DataError::malformed(target, "what was fetched is no archive; try again, or use --mirror URL"),
        });
    }
    let file = File::options().write(true).open(part).map_err(|e| DataError::write(part, e))?;
    file.sync_all().map_err(|e| DataError::write(part, e))?;
    drop(file);
    fs::rename(part, target).map_err(|e| DataError::write(target, e))
}

fn discard(part: &Path) -> Result<(), DataError> {
    match fs::remove_file(part) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(DataError::write(part, e)),
        _ => Ok(()),
    }
}

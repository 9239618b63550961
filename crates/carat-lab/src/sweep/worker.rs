//! A worker is a process that computes runs of a store. It is alive as long as it holds the lock on its own file.
//!
//! The system frees the lock when the process ends in any way. Other workers then take over its claims at once, and
//! they never take claims from a worker that is only slow.

use std::collections::hash_map::RandomState;
use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carat::Error;
use carat_graph::DataError;
use carat_graph::files::TEMPORARY_PREFIX;

/// A worker's temporary file is renamed and locked long before this age.
const BEING_MADE: Duration = Duration::from_secs(60);

/// A process that computes runs of a store.
#[derive(Debug)]
pub(super) struct Worker {
    folder: PathBuf,
    name: String,
    /// Holds the lock.
    _file: File,
}

impl Worker {
    /// Registers this process as a worker of the store at `path`.
    pub(super) fn new(path: &Path) -> Result<Self, Error> {
        let mut folder = path.as_os_str().to_owned();
        folder.push("-workers");
        let folder = PathBuf::from(folder);
        // The standard library has no random numbers, but it gives every hasher random keys.
        let random = RandomState::new().build_hasher().finish();
        let name = format!("{}-{random:016x}", std::process::id());
        // The file gets its name after it is locked, so no worker takes it for that of a dead one.
        let temporary = folder.join(format!("{TEMPORARY_PREFIX}{name}"));
        let mut attempts = 0;
        let file = loop {
            std::fs::create_dir_all(&folder).map_err(|e| DataError::write(&folder, e))?;
            remove_dead(&folder);
            attempts += 1;
            match File::create(&temporary) {
                Ok(file) => break file,
                // The last other worker has just ended and removed the folder.
                Err(e) if e.kind() == ErrorKind::NotFound && attempts < 100 => {}
                Err(e) => return Err(DataError::write(&temporary, e).into()),
            }
        };
        file.lock().map_err(|e| DataError::write(&temporary, e))?;
        let path = folder.join(&name);
        std::fs::rename(&temporary, &path).map_err(|e| DataError::write(&path, e))?;
        Ok(Self { folder, name, _file: file })
    }

    /// Its unique name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// True while the worker of this name is running.
    pub(super) fn is_alive(&self, name: &str) -> bool {
        match File::open(self.folder.join(name)) {
            Ok(file) => matches!(file.try_lock(), Err(TryLockError::WouldBlock)),
            Err(_) => false,
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // If this fails, the next worker removes the file.
        let _ = std::fs::remove_file(self.folder.join(&self.name));
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// Removes the files of killed workers.
fn remove_dead(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let is_old =
            || entry.metadata().and_then(|m| m.modified()).is_ok_and(|t| t.elapsed().is_ok_and(|age| age > BEING_MADE));
        let being_made = entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX) && !is_old();
        let dead = !being_made && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if dead {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_alive_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let (first, second) = (Worker::new(&store).unwrap(), Worker::new(&store).unwrap());
        let name = first.name().to_string();
        assert_ne!(name, second.name());
        assert!(second.is_alive(&name));
        drop(first);
        assert!(!second.is_alive(&name) && !second.is_alive("never"));
    }

    #[test]
    fn files_of_killed_workers_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let worker = Worker::new(&store).unwrap();
        std::fs::write(worker.folder.join("123-killed"), "").unwrap();
        let other = Worker::new(&store).unwrap();
        assert_eq!(std::fs::read_dir(&worker.folder).unwrap().count(), 2);
        assert!(other.is_alive(worker.name()));
    }
}

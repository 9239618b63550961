//! Where catalogue datasets are kept.

use std::path::{Path, PathBuf};

/// The folder that holds catalogue datasets: `flag`, else the environment variable `CARAT_DATA`, else the platform's
/// cache folder.
pub fn data_dir(flag: Option<&Path>) -> PathBuf {
    data_dir_from(flag, |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
}

fn data_dir_from(flag: Option<&Path>, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    if let Some(folder) = flag.map(Path::to_path_buf).or_else(|| variable("CARAT_DATA")) {
        return folder;
    }
    let cache = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library").join("Caches"))
    } else {
        // The XDG standard says to ignore relative paths.
        let xdg = variable("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
        xdg.or_else(|| variable("HOME").map(|home| home.join(".cache")))
    };
    cache.unwrap_or_else(std::env::temp_dir).join("carat")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_comes_before_the_variable_and_the_variable_before_the_cache() {
        let set = |name: &str| (name == "CARAT_DATA").then(|| PathBuf::from("/variable"));
        assert_eq!(data_dir_from(Some(Path::new("/flag")), set), Path::new("/flag"));
        assert_eq!(data_dir_from(None, set), Path::new("/variable"));
        if cfg!(target_os = "linux") {
            let home = |name: &str| (name == "HOME").then(|| PathBuf::from("/home/me"));
            assert_eq!(data_dir_from(None, home), Path::new("/home/me/.cache/carat"));
            let relative = |name: &str| match name {
                "XDG_CACHE_HOME" => Some(PathBuf::from("relative")),
                _ => home(name),
            };
            assert_eq!(data_dir_from(None, relative), Path::new("/home/me/.cache/carat"));
            let xdg = |name: &str| (name == "XDG_CACHE_HOME").then(|| PathBuf::from("/caches"));
            assert_eq!(data_dir_from(None, xdg), Path::new("/caches/carat"));
        }
    }
}

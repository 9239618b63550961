//! The public datasets by name: what they are, where their files are published, and how each file is recognised.
//!
//! The list itself is `catalogue.toml`, beside this file: a new dataset is a few lines there.

use std::path::Path;
use std::sync::LazyLock;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::files::plain_or_gz;
use crate::readers::{LAYOUTS, Layout};

/// Sizes of a dataset, known before it is downloaded. For a family, those of a typical member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of directed edges without duplicates and self-loops.
    pub edges: u64,
    /// Features per node.
    pub features: u64,
    /// Number of classes.
    pub classes: u64,
    /// Splits that come with the data.
    pub splits: u64,
    /// Number of graphs, for graph sets.
    pub graphs: Option<u64>,
}

/// Where a file is published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// On its own, at this address.
    Address(String),
    /// Inside a zip archive.
    Archive {
        /// The archive's address.
        address: String,
        /// The file's name inside.
        member: String,
    },
    /// Nowhere: the user brings it, or a mirror has it.
    Unpublished,
}

/// How the bytes of a file are recognised.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Fingerprint {
    /// SHA-256 in lower-case hexadecimal.
    #[serde(deserialize_with = "hexadecimal")]
    pub sha256: String,
    /// Number of bytes.
    pub size: u64,
}

/// One file of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Where it lies in the data folder, with forward slashes.
    pub path: String,
    /// What it must be, where we have seen the file.
    pub fingerprint: Option<Fingerprint>,
    /// The fingerprint of `path.gz`, where data folders and mirrors may have the file gzip-compressed.
    pub packed: Option<Fingerprint>,
    /// Where it is published.
    pub source: Source,
}

impl FileEntry {
    /// Its name without folders.
    fn own_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// One dataset of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, as users write it.
    pub name: String,
    /// Which reader takes it.
    pub layout: &'static Layout,
    /// What its reader opens, in the data folder: a file or a folder. Empty for a family.
    pub at: String,
    /// One line about it.
    pub about: String,
    /// Its sizes, and how many splits it has.
    pub facts: Facts,
    /// Its files.
    pub files: Vec<FileEntry>,
    /// Names of the members, for a family of graphs that share nothing but their origin; empty otherwise.
    pub variants: Vec<String>,
}

impl Entry {
    /// True when every file is in `data_dir`, whatever its contents.
    pub fn is_present(&self, data_dir: &Path) -> bool {
        self.files.iter().all(|file| plain_or_gz(&data_dir.join(&file.path)).is_some())
    }

    /// Bytes to fetch when nothing is there, where the sizes of all files are known.
    pub fn total_size(&self) -> Option<u64> {
        self.files.iter().map(|file| file.fingerprint.as_ref().map(|known| known.size)).sum()
    }

    /// True when at least one file is available only from a mirror.
    pub fn is_unpublished(&self) -> bool {
        self.files.iter().any(|file| file.source == Source::Unpublished)
    }

    /// Members of a family as entries of their own: `syn-cora/h0.10-r1.npz` is `syn-cora-h0.10-r1`.
    fn members(&self) -> impl Iterator<Item = Entry> + '_ {
        self.files.iter().zip(&self.variants).map(|(file, name)| Entry {
            name: name.clone(),
            at: file.path.clone(),
            files: vec![file.clone()],
            variants: Vec::new(),
            ..self.clone()
        })
    }
}

/// Every dataset, in the order of the list. Members of families are not among them.
pub fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> =
        LazyLock::new(|| parse(include_str!("catalogue.toml")).expect("the built-in catalogue is checked by a test"));
    &ENTRIES
}

/// The dataset, or the member of a family, of this name. Case does not matter.
pub fn find(name: &str) -> Option<Entry> {
    let matches = |entry: &Entry| entry.name.eq_ignore_ascii_case(name);
    entries()
        .iter()
        .find(|entry| matches(entry))
        .cloned()
        .or_else(|| entries().iter().flat_map(Entry::members).find(matches))
}

/// The name in the catalogue that `name` was probably meant to be.
pub fn nearest(name: &str) -> Option<&'static str> {
    let wanted = name.to_lowercase();
    // A third of the letters may be wrong. With more, suggestions would be arbitrary.
    let tolerance = (wanted.chars().count() / 3).clamp(1, 3);
    let names = entries().iter().map(|e| e.name.as_str());
    names
        .chain(entries().iter().flat_map(|e| e.variants.iter().map(String::as_str)))
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= tolerance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The list as `catalogue.toml` has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    dataset: Vec<ListedDataset>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedDataset {
    name: String,
    #[serde(deserialize_with = "layout")]
    layout: &'static Layout,
    at: Option<String>,
    about: String,
    facts: Facts,
    group: Vec<Group>,
}

/// Files that are published in the same place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    archive: Option<String>,
    from: Option<String>,
    files: Vec<ListedFile>,
}

#[derive(Deserialize)]
struct ListedFile {
    path: String,
    size: Option<u64>,
    #[serde(default, deserialize_with = "known_sum")]
    sha256: Option<String>,
    packed: Option<Fingerprint>,
}

impl From<ListedDataset> for Entry {
    fn from(listed: ListedDataset) -> Self {
        let ListedDataset { name, layout, at, about, facts, group } = listed;
        let files: Vec<FileEntry> = group.into_iter().flat_map(Group::entries).collect();
        // Every file of a family is a graph of its own.
        let member = |file: &FileEntry| format!("{name}-{}", file.own_name().trim_end_matches(".npz"));
        let variants = if at.is_some() { Vec::new() } else { files.iter().map(member).collect() };
        Self { name, layout, at: at.unwrap_or_default(), about, facts, files, variants }
    }
}

impl Group {
    fn entries(self) -> impl Iterator<Item = FileEntry> {
        let Self { archive, from, files } = self;
        files.into_iter().map(move |ListedFile { path, size, sha256, packed }| {
            let fingerprint = sha256.zip(size).map(|(sha256, size)| Fingerprint { sha256, size });
            let mut file = FileEntry { path, fingerprint, packed, source: Source::Unpublished };
            let published = from.as_ref().map(|from| format!("{from}{}", file.own_name()));
            file.source = match (&archive, published) {
                (Some(address), Some(member)) => Source::Archive { address: address.clone(), member },
                (None, Some(address)) => Source::Address(address),
                (_, None) => Source::Unpublished,
            };
            file
        })
    }
}

fn parse(text: &str) -> Result<Vec<Entry>, toml::de::Error> {
    toml::from_str::<List>(text).map(|list| list.dataset.into_iter().map(Entry::from).collect())
}

fn layout<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Layout, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = LAYOUTS.iter().copied().find(|layout| layout.name() == name);
    found.ok_or_else(|| D::Error::custom(format!("there is no layout '{name}'")))
}

fn known_sum<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    hexadecimal(deserializer).map(Some)
}

fn hexadecimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_sha256 = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
    is_sha256.then_some(text).ok_or_else(|| D::Error::custom("expected the 64 digits of a SHA-256"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_whole_and_every_file_has_one_place() {
        let names: Vec<&str> = entries().iter().map(|e| e.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "cora",
                "citeseer",
                "pubmed",
                "cornell",
                "wisconsin",
                "chameleon",
                "squirrel",
                "syn-cora",
                "arxiv-tape",
                "MUTAG",
                "PROTEINS",
                "NCI1",
                "minesweeper",
                "chameleon-filtered",
                "squirrel-filtered",
                "roman-empire",
                "amazon-ratings",
                "tolokers",
                "questions"
            ]
        );
        let files: Vec<&FileEntry> = entries().iter().flat_map(|e| &e.files).collect();
        assert_eq!(files.len(), files.iter().map(|f| &f.path).collect::<BTreeSet<_>>().len());
        for entry in entries() {
            assert!(!entry.about.is_empty() && entry.facts.nodes > 0, "{}", entry.name);
            let unseen = ["roman-empire", "amazon-ratings", "tolokers", "questions"].contains(&&entry.name[..]);
            assert!(entry.total_size().map_or(unseen, |size| size > 0), "{}", entry.name);
            assert!(entry.at.is_empty() != entry.variants.is_empty(), "{}", entry.name);
            assert!(entry.files.iter().all(|file| file.path.starts_with(entry.at.split('/').next().unwrap())));
            assert_eq!(entry.is_unpublished(), entry.name == "arxiv-tape");
            for file in &entry.files {
                let plain = file.path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
                assert!(plain && !file.path.contains('\\'), "{}", file.path);
            }
        }
    }

    #[test]
    fn addresses_end_in_the_file_name() {
        let cora = find("CORA").unwrap();
        let expected = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/ind.cora.allx";
        assert_eq!(cora.files[0].source, Source::Address(expected.into()));
        let mutag = find("mutag").unwrap();
        let Source::Archive { address, member } = &mutag.files[0].source else { panic!("MUTAG comes in an archive") };
        assert_eq!(address, "https://www.chrsmrrs.com/graphkerneldatasets/MUTAG.zip");
        assert_eq!(member, "MUTAG/MUTAG_A.txt");
        assert!(find("chameleon").unwrap().files[1].packed.is_some());
    }

    #[test]
    fn members_of_a_family_have_names_of_their_own() {
        assert_eq!(find("syn-cora").unwrap().variants.len(), 33);
        let member = find("syn-cora-h0.10-r1").unwrap();
        assert_eq!(member.files.len(), 1);
        assert_eq!(member.files[0].path, "syn-cora/h0.10-r1.npz");
        assert!(member.variants.is_empty());
        assert!(find("syn-cora-h0.15-r1").is_none());
    }

    #[test]
    fn misspelt_names_are_recognised() {
        assert_eq!(nearest("coar"), Some("cora"));
        assert_eq!(nearest("Citseer"), Some("citeseer"));
        assert_eq!(nearest("mutga"), Some("MUTAG"));
        assert_eq!(nearest("syn-cora-h0.1-r1"), Some("syn-cora-h0.10-r1"));
        assert_eq!(nearest("reddit"), None);
        assert_eq!(nearest(""), None);
    }

    #[test]
    fn a_damaged_list_is_refused() {
        let cora = "[[dataset]]\nname = 'cora'\nlayout = 'planetoid'\nat = 'planetoid'\nabout = ''\n\
             facts = { nodes = 1, edges = 1, features = 1, classes = 1, splits = 1 }\n\
             [[dataset.group]]\nfiles = [{ path = 'x', size = 1, sha256 = 'a' }]";
        let good = cora.replace("'a'", &format!("'{}'", "a".repeat(64)));
        assert!(parse(&good).is_ok());
        let damaged = [
            "about = 'nothing'",
            cora,
            &good.replace("planetoid", "nowhere"),
            &good.replace("about", "what"),
            &good.replace("nodes = 1", "nodes = -1"),
            &good.replace("splits", "split"),
        ];
        for bad in damaged {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}

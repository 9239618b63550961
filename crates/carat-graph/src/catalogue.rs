//! The public datasets by name: what they are, where their files are published, and how each file is recognised.
//!
//! The list itself is text (`catalogue.txt`, beside this file), so that a new dataset is a few lines there and, at
//! most, one new [`Layout`] here.

use std::path::Path;
use std::sync::OnceLock;

use crate::files::plain_or_gz;

/// How a dataset's files are laid out, and so which reader takes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Pickles `ind.<name>.*`.
    Planetoid,
    /// `out1_*.txt` and `splits/*.npz`.
    GeomGcn,
    /// One `.npz` of CSR arrays per graph.
    SynCora,
    /// `raw/*.csv.gz`, `split/`, `mapping/`.
    Ogb,
    /// `<name>_A.txt` and its companions: a set of graphs.
    TuDataset,
}

impl Layout {
    const ALL: [Self; 5] = [Self::Planetoid, Self::GeomGcn, Self::SynCora, Self::Ogb, Self::TuDataset];

    /// The layout's name, which is also its folder's where several datasets share one.
    pub fn name(self) -> &'static str {
        match self {
            Self::Planetoid => "planetoid",
            Self::GeomGcn => "geom-gcn",
            Self::SynCora => "syn-cora",
            Self::Ogb => "ogb",
            Self::TuDataset => "tudataset",
        }
    }
}

/// Sizes of a dataset, known before its files are there. For a family, of a typical member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// Nowhere: it must be brought, or come from a mirror.
    Unpublished,
}

/// How bytes are recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
    /// Number of bytes.
    pub size: u64,
}

/// One file of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Where it lies in the data folder, with forward slashes.
    pub path: String,
    /// What it must be.
    pub fingerprint: Fingerprint,
    /// What the same file is gzip-compressed under `path.gz`, where data folders and mirrors may hold it so.
    pub packed: Option<Fingerprint>,
    /// Where it is published.
    pub source: Source,
}

/// One dataset of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, as users write it.
    pub name: String,
    /// Which reader takes it.
    pub layout: Layout,
    /// One line about it.
    pub about: String,
    /// Its sizes.
    pub facts: Facts,
    /// Its files.
    pub files: Vec<FileEntry>,
    /// Names of the members, for a family of graphs that share nothing but their origin; empty otherwise.
    pub variants: Vec<String>,
}

impl Entry {
    /// True when every file is in `data_dir`, whatever it holds.
    pub fn is_present(&self, data_dir: &Path) -> bool {
        self.files.iter().all(|file| plain_or_gz(&data_dir.join(&file.path)).is_some())
    }

    /// Bytes to fetch when nothing is there.
    pub fn total_size(&self) -> u64 {
        self.files.iter().map(|file| file.fingerprint.size).sum()
    }

    /// True when at least one file can be had only from a mirror.
    pub fn is_unpublished(&self) -> bool {
        self.files.iter().any(|file| file.source == Source::Unpublished)
    }

    /// Members of a family as entries of their own: `syn-cora/h0.10-r1.npz` is `syn-cora-h0.10-r1`.
    fn members(&self) -> impl Iterator<Item = Entry> + '_ {
        self.files.iter().zip(&self.variants).map(|(file, name)| Entry {
            name: name.clone(),
            files: vec![file.clone()],
            variants: Vec::new(),
            ..self.clone()
        })
    }
}

/// Every dataset, in the order of the list. Members of families are not among them.
pub fn entries() -> &'static [Entry] {
    static ENTRIES: OnceLock<Vec<Entry>> = OnceLock::new();
    ENTRIES.get_or_init(|| parse(include_str!("catalogue.txt")).expect("the built-in catalogue is checked by a test"))
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
    // A third of the letters may be wrong: more would suggest names at random.
    let tolerance = (wanted.chars().count() / 3).clamp(1, 3);
    let names = entries().iter().map(|e| e.name.as_str());
    names
        .chain(entries().iter().flat_map(|e| e.variants.iter().map(String::as_str)))
        .map(|candidate| (strsim::damerau_levenshtein(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= tolerance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Where the files that follow in the list come from.
enum Origin<'a> {
    Folder(&'a str),
    Archive(&'a str, &'a str),
    Nowhere,
}

fn parse(text: &str) -> Result<Vec<Entry>, String> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut origin = Origin::Nowhere;
    for (number, line) in text.lines().enumerate() {
        let wrong = || format!("line {}: {line}", number + 1);
        let (keyword, rest) = line.split_once(' ').unwrap_or((line, ""));
        if keyword.is_empty() || keyword.starts_with('#') {
            continue;
        }
        if keyword == "dataset" {
            let (name, layout) = rest.split_once(' ').ok_or_else(wrong)?;
            let layout = Layout::ALL.into_iter().find(|l| l.name() == layout).ok_or_else(wrong)?;
            let (name, about) = (name.to_string(), String::new());
            let (facts, files, variants) = (Facts::default(), Vec::new(), Vec::new());
            entries.push(Entry { name, layout, about, facts, files, variants });
            origin = Origin::Nowhere;
            continue;
        }
        let entry = entries.last_mut().ok_or_else(wrong)?;
        match keyword {
            "about" => entry.about = rest.to_string(),
            "facts" => entry.facts = parse_facts(rest).ok_or_else(wrong)?,
            "from" => origin = Origin::Folder(rest),
            "archive" => origin = rest.split_once(' ').map(|(a, f)| Origin::Archive(a, f)).ok_or_else(wrong)?,
            "unpublished" => origin = Origin::Nowhere,
            "file" => {
                let (fingerprint, path) = parse_fingerprint(rest).ok_or_else(wrong)?;
                let own_name = path.rsplit('/').next().unwrap_or(path);
                let source = match origin {
                    Origin::Folder(address) => Source::Address(format!("{address}{own_name}")),
                    Origin::Archive(address, folder) => {
                        Source::Archive { address: address.to_string(), member: format!("{folder}{own_name}") }
                    }
                    Origin::Nowhere => Source::Unpublished,
                };
                if entry.layout == Layout::SynCora {
                    entry.variants.push(format!("{}-{}", entry.name, own_name.trim_end_matches(".npz")));
                }
                entry.files.push(FileEntry { path: path.to_string(), fingerprint, packed: None, source });
            }
            "packed" => {
                let file = entry.files.last_mut().ok_or_else(wrong)?;
                file.packed = Some(parse_fingerprint(rest).ok_or_else(wrong)?.0);
            }
            _ => return Err(wrong()),
        }
    }
    Ok(entries)
}

/// `SHA-256 BYTES [PATH]`
fn parse_fingerprint(text: &str) -> Option<(Fingerprint, &str)> {
    let mut words = text.splitn(3, ' ');
    let sha256 = words.next().filter(|w| w.len() == 64 && w.bytes().all(|b| b.is_ascii_hexdigit()))?.to_string();
    let size = words.next()?.parse().ok()?;
    Some((Fingerprint { sha256, size }, words.next().unwrap_or("")))
}

/// `KEY=NUMBER ...`
fn parse_facts(text: &str) -> Option<Facts> {
    let mut facts = Facts::default();
    for word in text.split_whitespace() {
        let (key, value) = word.split_once('=')?;
        let value = value.parse().ok()?;
        match key {
            "nodes" => facts.nodes = value,
            "edges" => facts.edges = value,
            "features" => facts.features = value,
            "classes" => facts.classes = value,
            "splits" => facts.splits = value,
            "graphs" => facts.graphs = Some(value),
            _ => return None,
        }
    }
    Some(facts)
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
                "NCI1"
            ]
        );
        let files: Vec<&FileEntry> = entries().iter().flat_map(|e| &e.files).collect();
        assert_eq!(files.len(), files.iter().map(|f| &f.path).collect::<BTreeSet<_>>().len());
        for entry in entries() {
            assert!(!entry.about.is_empty() && entry.facts.nodes > 0 && entry.total_size() > 0, "{}", entry.name);
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
    fn a_slip_of_the_pen_is_recognised() {
        assert_eq!(nearest("coar"), Some("cora"));
        assert_eq!(nearest("Citseer"), Some("citeseer"));
        assert_eq!(nearest("mutga"), Some("MUTAG"));
        assert_eq!(nearest("syn-cora-h0.1-r1"), Some("syn-cora-h0.10-r1"));
        assert_eq!(nearest("reddit"), None);
        assert_eq!(nearest(""), None);
    }

    #[test]
    fn a_damaged_list_is_refused() {
        for bad in ["about nothing", "dataset x nowhere", "dataset cora planetoid\nfile abc 1 x", "dataset a ogb\nwhat"]
        {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}

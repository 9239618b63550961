//! The page as one file: the views of a node and of the nodes around it, with every intervention on their edges.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use carat::Error;
use serde::Serialize;

use crate::explorer::{Explorer, Which};
use crate::page::still_page;
use crate::view::{Info, NodeView, WithoutView};

/// The most nodes whose views a file holds; each takes some ten kilobytes.
const MOST_VIEWS: usize = 300;

/// What to export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Export {
    /// The node to begin with.
    pub node: u32,
    /// 1: that node and its in-neighbours; 2: also their in-neighbours, and so on.
    pub hops: usize,
    /// In-edges of every node, those with most attention.
    pub edges: usize,
}

/// Everything that the page would request from a server.
#[derive(Serialize)]
struct Still {
    info: Info,
    views: BTreeMap<u32, NodeView>,
    /// By source and node: `12>7`.
    withouts: BTreeMap<String, WithoutView>,
}

/// A page that is one file.
#[derive(Debug, Clone)]
pub struct ExportedPage {
    /// The file's text.
    pub html: String,
    /// How many nodes it shows.
    pub views: usize,
    /// Whether there were more within the hops.
    pub more: bool,
}

/// Makes the file's page. `progress` is told the number of nodes done so far and known so far; once it breaks, the work
/// ends with [`Error::Interrupted`].
pub fn export(
    explorer: &mut Explorer<'_>,
    what: Export,
    progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<ExportedPage, Error> {
    let mut still =
        Still { info: Info { start: what.node, ..explorer.info() }, views: BTreeMap::new(), withouts: BTreeMap::new() };
    let (mut known, mut ring, mut more) = (BTreeSet::from([what.node]), vec![what.node], false);
    for hop in 0..what.hops {
        let mut next = Vec::new();
        for &node in &ring {
            let view = explorer.node(node, what.edges, Which::default())?;
            for edge in &view.edges {
                let source = edge.source.id;
                still.withouts.insert(format!("{source}>{node}"), explorer.without(source, node)?);
                if hop + 1 < what.hops && !known.contains(&source) {
                    if known.len() < MOST_VIEWS {
                        known.insert(source);
                        next.push(source);
                    } else {
                        more = true;
                    }
                }
            }
            still.views.insert(node, view);
            if progress(still.views.len(), known.len()).is_break() {
                return Err(Error::Interrupted);
            }
        }
        ring = next;
    }
    let name = still.views.get(&what.node).map(|view| view.node.name.clone()).unwrap_or_default();
    let html = still_page(&format!("{name} in {}", still.info.dataset), &still);
    Ok(ExportedPage { html, views: still.views.len(), more })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::samples::{HOSTILE, inputs};

    fn data_of(html: &str) -> Value {
        let json = html.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
        assert!(!json.contains('<') && !json.contains('\u{2028}'));
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_file_holds_the_views_within_its_hops_and_every_intervention_on_them() {
        let inputs = inputs();
        let mut explorer = Explorer::new(&inputs).unwrap();
        let mut told = Vec::new();
        for hops in [1, 2] {
            let what = Export { node: 2, hops, edges: 3 };
            let page = export(&mut explorer, what, &mut |done, known| {
                told.push((done, known));
                ControlFlow::Continue(())
            });
            let page = page.unwrap();
            let data = data_of(&page.html);
            assert_eq!(data["info"]["start"], 2);
            let views = data["views"].as_object().unwrap();
            assert_eq!((views.len(), page.more), (page.views, false));
            assert_eq!(views["2"]["node"]["name"], HOSTILE[2]);
            assert_eq!(views.len() > 1, hops > 1);
            for view in views.values() {
                for edge in view["edges"].as_array().unwrap() {
                    let (source, node) = (&edge["source"]["id"], &view["node"]["id"]);
                    let without = &data["withouts"][format!("{source}>{node}")];
                    let (found, expected) = (&without["runs"][1]["effect"], &edge["runs"][1]["effect"]);
                    assert!((found.as_f64().unwrap() - expected.as_f64().unwrap()).abs() < 1e-6);
                }
            }
        }
        assert_eq!(told[0], (1, 1));
        assert!(told.last().is_some_and(|(done, known)| done == known));
        let what = Export { node: 2, hops: 1, edges: 3 };
        let stopped = export(&mut explorer, what, &mut |_, _| ControlFlow::Break(()));
        assert!(matches!(stopped, Err(Error::Interrupted)));
        let absent = export(&mut explorer, Export { node: 99, ..what }, &mut |_, _| ControlFlow::Continue(()));
        assert!(absent.is_err());
    }
}

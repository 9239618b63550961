//! Summaries of made-up changes, with numbers that can be checked by hand, and pages with hostile names.

use carat::explain::{Effects, GroupMembers, Properties};
use carat_graph::DatasetParts;

use super::*;
use crate::statistics::Direction;
use crate::{files, guarded, html};

const HOSTILE: &str = "</title><script>alert(\"1\")</script> \u{202e}'&";

/// A ring of 40 nodes with edges from both neighbours and one from afar; names and classes are hostile.
fn dataset() -> Dataset {
    let edges: Vec<(u32, u32)> =
        (0..40).flat_map(|j| [((j + 39) % 40, j), ((j + 1) % 40, j), ((j + 7) % 40, j)]).collect();
    let features: Vec<[f32; 2]> = (0..40).map(|n| [(n as f32).sin(), (n as f32).cos()]).collect();
    let labels: Vec<Option<u32>> = (0..40).map(|n| Some(u32::from(n >= 20))).collect();
    let mut parts = Dataset::from_rows(HOSTILE, &edges, &features, &labels).unwrap().into_parts();
    parts.node_names = Some((0..40).map(|n| format!("{HOSTILE} {n}")).collect());
    parts.class_names = Some(vec![HOSTILE.into(), "=1+1".into()]);
    parts.node_years = Some((1980..2020).collect());
    Dataset::new(parts).unwrap()
}

/// Changes that grow with how near the ends are: edges from afar went down.
fn changes(dataset: &Dataset) -> EdgeChanges {
    let (src, dst) = (dataset.graph().sources().to_vec(), dataset.graph().targets());
    let edges = src.len();
    let far: Vec<bool> = src.iter().zip(&dst).map(|(i, j)| (j + 7) % 40 == *i).collect();
    let base = vec![1.0f32 / 3.0; edges];
    let car: Vec<f32> =
        far.iter().enumerate().map(|(e, far)| if *far { 0.1 } else { 0.45 } + 1e-4 * (e % 13) as f32).collect();
    let change: Vec<f64> = base.iter().zip(&car).map(|(base, car)| 100.0 * f64::from(car / base - 1.0)).collect();
    let difference = base.iter().zip(&car).map(|(base, car)| f64::from(car - base)).collect();
    let mut order: Vec<u32> = (0..edges as u32).collect();
    order.sort_by(|a, b| change[*b as usize].total_cmp(&change[*a as usize]).then(a.cmp(b)));
    let same = |(i, j): (&u32, &u32)| Some((*i >= 20) == (*j >= 20));
    EdgeChanges {
        effects: Some(Effects {
            delta: change.iter().map(|c| c / 100.0).collect(),
            effect: change.iter().map(|c| 0.5 + c / 1000.0).collect(),
            order: order.clone(),
        }),
        properties: Properties {
            src_degree: far.iter().map(|far| if *far { 30 } else { 3 }).collect(),
            dst_degree: vec![3; edges],
            same_class: src.iter().zip(&dst).map(same).collect(),
            similarity: src.iter().zip(&dst).map(|(i, j)| (*i as f32 - *j as f32).cos()).collect(),
            year_gap: None,
        },
        groups: vec![
            GroupMembers { group: Group::SelfCitation, members: Err("the data names no authors") },
            GroupMembers { group: Group::Anchor, members: Ok(far.clone()) },
            GroupMembers { group: Group::Narrow, members: Ok(far.iter().map(|far| !far).collect()) },
        ],
        src,
        dst,
        base,
        car,
        difference,
        change,
        order,
    }
}

fn explanation(changes: &EdgeChanges, dataset: &Dataset) -> Explanation {
    let summary = SummarySettings { top: 3, ..SummarySettings::default() };
    Explanation::of(changes, dataset, &ExplainSettings::default(), &summary).unwrap()
}

#[test]
fn ends_and_tenths_are_compared() {
    let dataset = dataset();
    let changes = changes(&dataset);
    let found = explanation(&changes, &dataset);
    assert_eq!((found.edges, found.ranked, found.unranked, found.up_weighted), (120, 120, 0, 80));
    assert!(found.up.iter().all(|edge| edge.difference > 0.1) && found.down.iter().all(|edge| edge.difference < -0.2));
    assert_eq!((found.up.len(), found.needed.len(), found.sample.len()), (3, 3, 120));
    let of = |property| found.separates.iter().find(|contrast| contrast.property == property).unwrap();
    let degree = of(Property::SrcDegree);
    // Twelve edges at either end: near ones have 3, far ones 30.
    assert_eq!((degree.up.known, degree.up.mean, degree.down.median()), (12, 3.0, 30.0));
    assert_eq!(degree.separation.auc, 0.0);
    // A third of the edges is far: three tenths, and a third of the fourth, whose median is that of the others.
    assert_eq!(degree.tenths, [30.0, 30.0, 30.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]);
    assert_eq!(of(Property::DstDegree).separation.auc, 0.5);
    assert_eq!(found.missing, [(Property::YearGap, "the data has no years")]);
    assert!(found.separates.iter().all(|contrast| contrast.property != Property::YearGap));
}

#[test]
fn groups_have_a_direction_or_a_reason_for_none() {
    let dataset = dataset();
    let found = explanation(&changes(&dataset), &dataset);
    let [own, anchors, narrow] = &found.groups[..] else { panic!("{:?}", found.groups) };
    assert_eq!((own.missing, own.all.edges), (Some("the data names no authors"), 0));
    assert_eq!((anchors.all.edges, anchors.all.up_share, anchors.separation.unwrap().auc), (40, Some(0.0), 0.0));
    assert_eq!(anchors.same_class.edges + anchors.other_class.edges, 40);
    assert_eq!((narrow.all.edges, narrow.all.up_share), (80, Some(1.0)));
    assert!(anchors.examples.iter().all(|edge| edge.difference < 0.0) && anchors.examples.len() == 5);
    assert!(narrow.examples.windows(2).all(|pair| pair[0].difference >= pair[1].difference));
    let sentences = group_sentences(&found);
    assert!(
        sentences[0].starts_with("Self-citations cannot be told: the data names no authors (a column 'authors'"),
        "{sentences:?}"
    );
    assert!(sentences[1].contains("40 ranked edges, median change -69"), "{sentences:?}");
}

#[test]
fn overlapping_groups_have_a_direction() {
    let dataset = dataset();
    let mut changes = changes(&dataset);
    // A few far edges went up, so that the two overlap.
    for edge in (0..120).step_by(11) {
        changes.change[edge] = 40.0 + edge as f64 / 10.0;
    }
    changes.order.sort_by(|a, b| changes.change[*b as usize].total_cmp(&changes.change[*a as usize]));
    let found = explanation(&changes, &dataset);
    assert_eq!(found.groups[1].direction(), Some(Direction::Below));
    assert_eq!(found.groups[2].direction(), Some(Direction::Above));
    let sentences = group_sentences(&found);
    assert!(sentences[1].starts_with("Anchors went down relative to other edges: 40 ranked edges"), "{sentences:?}");
    assert!(
        sentences[2].starts_with(
            "Narrow papers went up relative to other edges: 80 ranked \
        edges"
        ),
        "{sentences:?}"
    );
}

#[test]
fn unchanged_attention_is_named_and_not_ranked() {
    let dataset = dataset();
    let mut same = changes(&dataset);
    same.car = same.base.clone();
    same.change = vec![0.0; 120];
    same.difference = vec![0.0; 120];
    let found = explanation(&same, &dataset);
    assert!(found.unchanged && found.up.is_empty() && found.separates.is_empty() && found.sample.is_empty());
    assert!(counts(&found)[1].starts_with("Both networks weigh every edge alike"), "{:?}", counts(&found));
    assert_eq!(group_sentences(&found)[1], "Anchors: 40 ranked edges, unchanged.");
    let page = html(&report(&found, &[]));
    assert!(page.contains("weigh every edge alike") && !page.contains("Edges that changed most"));
}

#[test]
fn hostile_names_are_escaped_everywhere() {
    let dataset = dataset();
    let found = explanation(&changes(&dataset), &dataset);
    let report = report(&found, &[HOSTILE.to_string()]);
    let page = html(&report);
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(page.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"));
    // What turns the direction of writing is gone from names, and names in tips are isolated.
    assert!(!report.title.contains('\u{202e}') && found.up[0].dst.shown().contains('\u{fffd}'));
    let tables: Vec<(String, String)> = files(&report);
    for name in
        ["up.csv", "down.csv", "separation.csv", "groups.csv", "needed.csv", "misleading.csv", "anchor-examples.csv"]
    {
        assert!(
            tables.iter().any(|(file, _)| file == name),
            "{name}: {:?}",
            tables.iter().map(|t| &t.0).collect::<Vec<_>>()
        );
    }
    // Class 1 is a formula; with the year behind it is still text.
    let up = &tables.iter().find(|(file, _)| file == "up.csv").unwrap().1;
    assert!(!up.contains(",=1+1") && !up.contains("\n=1+1"), "{up}");
    assert_eq!(guarded("=1+1"), "'=1+1");
}

#[test]
fn invalid_settings_are_refused() {
    let check = |top, share| SummarySettings { top, share }.check().map_err(|e| e.to_string());
    assert_eq!(check(0, 0.1).unwrap_err(), "top must be between 1 and 1000, and 0 is not");
    assert_eq!(check(5, 0.6).unwrap_err(), "share must be above 0 and at most 0.5, and 0.6 is not");
    assert!(check(5, f64::NAN).is_err() && check(1000, 0.5).is_ok());
}

#[test]
fn a_graph_of_one_edge_has_a_page() {
    let parts: DatasetParts =
        Dataset::from_rows("one", &[(0, 1)], &[[1.0f32], [2.0]], &[Some(0), Some(1)]).unwrap().into_parts();
    let dataset = Dataset::new(parts).unwrap();
    let config = carat::TrainConfig::default().hidden(4);
    let network = |seed| carat_nn::Network::new(config.network_for(&dataset), seed).unwrap();
    let settings = ExplainSettings::default();
    let go_on = &mut |_, _| std::ops::ControlFlow::Continue(());
    let changes = carat::explain::explain(&network(0), &network(1), &dataset, &settings, go_on).unwrap();
    let found = explanation(&changes, &dataset);
    assert_eq!((found.ranked, found.unranked), (0, 1));
    let sentences = counts(&found);
    assert_eq!(
        sentences[0],
        "one has 1 edge. 1 is left out of all rankings because its target has no other in-edge: attention there is 1 \
         in every network."
    );
    assert_eq!(sentences[1], "No edge is left to compare.");
    assert!(html(&report(&found, &[])).contains("No edge is left to compare."));
}

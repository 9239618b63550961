//! Every property and every group on graphs small enough to check by hand.

use std::collections::BTreeSet;

use carat_graph::table::Column;
use carat_graph::{DatasetParts, Flags};

use super::*;
use crate::{Exponent, with_threads};

fn go_on(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Seven nodes. Node 0 is cited by all others, 1 by two, 2 and 3 by one; node 6 has no label.
const EDGES: [(u32, u32); 11] =
    [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (1, 2), (1, 4), (2, 4), (3, 5), (4, 4)];

fn dataset() -> Dataset {
    let features: Vec<[f32; 2]> = (0..7).map(|n| [(n as f32).sin(), (3.0 * n as f32).cos()]).collect();
    let labels = [Some(0), Some(0), Some(0), Some(1), Some(0), Some(1), None];
    Dataset::from_rows("tiny", &EDGES, &features, &labels).unwrap()
}

fn with(change: impl FnOnce(&mut DatasetParts)) -> Dataset {
    let mut parts = dataset().into_parts();
    change(&mut parts);
    Dataset::new(parts).unwrap()
}

fn network(dataset: &Dataset, seed: u64) -> Network<f32> {
    let config = TrainConfig::default().hidden(6).heads(2);
    Network::new(config.network_for(dataset), seed).unwrap()
}

fn explained(dataset: &Dataset, settings: &ExplainSettings) -> EdgeChanges {
    explain(&network(dataset, 1), &network(dataset, 2), dataset, settings, &mut go_on).unwrap()
}

/// Edges of a group as pairs.
fn members(found: &EdgeChanges, group: Group) -> BTreeSet<(u32, u32)> {
    let found_group = found.groups.iter().find(|members| members.group == group).unwrap();
    let flags: Flags = found_group.members.clone().unwrap().into();
    flags.iter().zip(found.src.iter().zip(&found.dst)).filter(|(is, _)| *is).map(|(_, (i, j))| (*i, *j)).collect()
}

#[test]
fn changes_are_in_percent_and_edges_are_ranked_by_their_difference() {
    let dataset = dataset();
    let found = explained(&dataset, &ExplainSettings::default());
    let (base, car) = (network(&dataset, 1), network(&dataset, 2));
    let (before, after) = (mean_attention(&base, &dataset, 3).unwrap(), mean_attention(&car, &dataset, 3).unwrap());
    assert!(found.src.iter().zip(&found.dst).map(|(i, j)| (*i, *j)).eq(dataset.graph().edges()));
    for edge in 0..11 {
        let expected = 100.0 * (f64::from(after[edge]) / f64::from(before[edge]) - 1.0);
        assert!((found.change[edge] - expected).abs() < 1e-3 * expected.abs().max(1.0), "{edge}");
        assert!((found.difference[edge] - f64::from(after[edge] - before[edge])).abs() < 1e-6, "{edge}");
    }
    // Nodes 1, 3 and 6 have one in-edge each.
    assert_eq!((found.len(), found.unranked(), found.order.len()), (11, 3, 8));
    assert!(found.order.iter().all(|&e| ![1, 3, 6].contains(&found.dst[e as usize])));
    assert!(
        found.order.windows(2).all(|pair| found.difference[pair[0] as usize] >= found.difference[pair[1] as usize])
    );
    let (up, down) = found.ends(0.25);
    assert_eq!((up, &down[..]), (&found.order[..2], &[found.order[7], found.order[6]][..]));
    let (up, down) = found.ends(1.0);
    assert_eq!((up.len(), down.len()), (4, 4));
    assert!(found.change[up[0] as usize] > 0.0 && found.change[down[0] as usize] < 0.0);
}

#[test]
fn underflow_and_equal_attention_have_a_finite_change() {
    assert_eq!([percent(0.5, 0.75), percent(0.5, 0.5), percent(0.2, 0.05)].map(f64::round), [50.0, 0.0, -75.0]);
    assert!(percent(0.0, 0.5).is_finite() && percent(0.0, 0.5) > 1e30);
    assert_eq!(percent(0.3, 0.0), -100.0);
    let dataset = dataset();
    let one = network(&dataset, 1);
    let found = explain(&one, &one, &dataset, &ExplainSettings::default(), &mut go_on).unwrap();
    assert!(found.is_unchanged() && found.change.iter().all(|change| *change == 0.0));
    // Equal edges keep the order of their ids.
    assert!(found.order.is_sorted());
    assert!(!explained(&dataset, &ExplainSettings::default()).is_unchanged());
}

#[test]
fn properties_are_those_of_the_ends() {
    let dataset = with(|parts| parts.node_years = Some(vec![2000, 2005, 2010, 1999, 2012, 2013, 2014].into()));
    let found = explained(&dataset, &ExplainSettings::default());
    let edge = |i: u32, j: u32| (0..11).find(|&e| (found.src[e], found.dst[e]) == (i, j)).unwrap() as u32;
    let values = |property| [(0, 6), (1, 4), (3, 5), (4, 4)].map(|(i, j)| found.value(property, edge(i, j)));
    assert_eq!(values(Property::SrcDegree), [6.0, 2.0, 1.0, 1.0].map(Some));
    assert_eq!(values(Property::DstDegree), [1.0, 4.0, 2.0, 4.0].map(Some));
    assert_eq!(values(Property::SameClass), [None, Some(1.0), Some(1.0), Some(1.0)]);
    assert_eq!(found.value(Property::SameClass, edge(0, 3)), Some(0.0));
    assert_eq!(values(Property::YearGap), [14.0, 7.0, 14.0, 0.0].map(Some));
    assert_eq!(values(Property::Similarity)[3], Some(1.0));
    let first = edge(1, 4) as usize;
    assert_eq!(found.value(Property::BaseAttention, edge(1, 4)), Some(f64::from(found.base[first])));
    assert_eq!(Property::ALL.map(|property| found.missing(property).is_some())[4..], [false, false, true]);
    let without = explained(&self::dataset(), &ExplainSettings::default());
    assert_eq!(without.missing(Property::YearGap), Some("the data has no years"));
    assert_eq!(without.value(Property::YearGap, 0), None);
}

#[test]
fn groups_follow_their_rules() {
    // Class 0: nodes 0, 1, 2, 4 are cited 6, 2, 1 and 1 times (its own edge to itself counts), 2.5 on average; of those
    // cited, a quarter has at most 1. Class 1: nodes 3 and 5 are cited once and never.
    let settings = ExplainSettings { anchor_factor: 2.0, ..ExplainSettings::default() };
    let authors = |parts: &mut DatasetParts| {
        let lists = ["Ada", "Emmy", "emmy; Kurt", "", "Kurt; Ada", "Ada", "Ada"];
        parts.node_authors = Some(lists.map(String::from).to_vec());
    };
    let found = explained(&with(authors), &settings);
    let anchors = BTreeSet::from([(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (3, 5)]);
    assert_eq!(members(&found, Group::Anchor), anchors, "3 has twice its class's mean of one half");
    assert_eq!(members(&found, Group::Narrow), BTreeSet::from([(2, 4), (3, 5)]));
    let own = BTreeSet::from([(0, 4), (0, 5), (0, 6), (1, 2), (2, 4)]);
    assert_eq!(members(&found, Group::SelfCitation), own, "an edge from a node to itself is no citation");
    let wider = ExplainSettings { narrow_share: 0.75, ..settings };
    let found = explained(&with(authors), &wider);
    assert_eq!(members(&found, Group::Narrow), BTreeSet::from([(1, 2), (1, 4), (2, 4), (3, 5)]));
    let found = explained(&dataset(), &ExplainSettings::default());
    assert_eq!(found.groups[0].members, Err("the data names no authors"));
    assert!(members(&found, Group::Anchor).is_empty(), "nobody is cited ten times as often as the mean");
}

#[test]
fn effects_are_those_of_the_second_network() {
    let dataset = dataset();
    let effect_settings = EffectSettings { exponent: Exponent::One, ..EffectSettings::default() };
    let settings = ExplainSettings { effects: Some(effect_settings), ..ExplainSettings::default() };
    let found = explained(&dataset, &settings);
    let nodes: Vec<u32> = (0..7).collect();
    let expected = effects(&network(&dataset, 2), &dataset, &nodes, &effect_settings, &mut go_on).unwrap();
    let measured = found.effects.as_ref().unwrap();
    assert_eq!((&found.src, &found.dst), (&expected.src, &expected.dst));
    assert_eq!((&measured.delta, &measured.effect), (&expected.delta, &expected.effect));
    assert_eq!(measured.order.len(), 11, "also edges without a rank of their attention");
    assert!(measured.order.windows(2).all(|p| measured.delta[p[0] as usize] >= measured.delta[p[1] as usize]));
    assert_eq!(found.value(Property::Effect, 3), Some(expected.delta[3]));
    let stop =
        explain(&network(&dataset, 1), &network(&dataset, 2), &dataset, &settings, &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(stop, Err(Error::Interrupted)));
}

#[test]
fn tables_have_what_is_known_and_no_more() {
    let dataset = with(|parts| {
        parts.node_years = Some((2000..2007).collect());
        parts.node_names = Some((0..7).map(|n| format!("=n{n}")).collect());
        parts.class_names = Some(["theory", "practice"].map(String::from).to_vec());
    });
    let settings = ExplainSettings { effects: Some(EffectSettings::default()), ..ExplainSettings::default() };
    let found = explained(&dataset, &settings);
    let (order, effect_order) = (found.order.clone(), found.effects.as_ref().unwrap().order.clone());
    let table = found.into_table().unwrap();
    let names: Vec<&str> = table.columns().iter().map(|(name, _)| name.as_str()).collect();
    let expected = "src dst base car difference change rank delta effect effect_rank src_degree dst_degree same_class \
        similarity year_gap anchor narrow";
    assert_eq!(names.join(" "), expected);
    let column = |name: &str| &table.columns().iter().find(|(own, _)| own == name).unwrap().1;
    let Column::I64(ranks) = column("rank") else { panic!("ranks are whole numbers") };
    assert_eq!((ranks[order[0] as usize], ranks[0], ranks.iter().filter(|rank| **rank == -1).count()), (1, -1, 3));
    let Column::I64(ranks) = column("effect_rank") else { panic!("ranks are whole numbers") };
    assert_eq!(ranks[effect_order[10] as usize], 11);
    let Column::I64(same) = column("same_class") else { panic!("classes are equal or not") };
    assert_eq!((same.iter().filter(|same| **same == -1).count(), same[0]), (1, 1));

    let nodes = nodes_table(&dataset, |text| format!("'{text}")).unwrap();
    let names: Vec<&str> = nodes.columns().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.join(" "), "node label class name year");
    assert_eq!(
        nodes.columns()[2].1,
        Column::Text(
            ["'theory", "'theory", "'theory", "'practice", "'theory", "'practice", ""].map(String::from).to_vec()
        )
    );
    assert!(matches!(&nodes.columns()[3].1, Column::Text(names) if names[6] == "'=n6"));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let dataset = dataset();
    let (one, settings) = (network(&dataset, 1), ExplainSettings::default());
    let said = |base: &Network<f32>, settings: &ExplainSettings| {
        explain(base, &one, &dataset, settings, &mut go_on).unwrap_err().to_string()
    };
    let of = |features, classes| Network::new(TrainConfig::default().sizes(features, classes), 0).unwrap();
    assert!(said(&of(3, 2), &settings).starts_with("the model reads 3 features per node, but tiny has 2"));
    assert!(said(&of(2, 1), &settings).starts_with("the model knows 1 classes, but tiny has 2"));
    assert!(said(&of(2, 4), &settings).starts_with("the base network tells 4 classes apart and the CAR network 2"));
    for (settings, part) in [
        (ExplainSettings { anchor_factor: 0.0, ..settings }, "anchor-factor must be a number above 0, and 0 is not"),
        (ExplainSettings { narrow_share: 1.0, ..settings }, "narrow-share must lie between 0 and 1, and 1 does not"),
        (ExplainSettings { batch_size: 0, ..settings }, "batch-size must be at least 1"),
    ] {
        assert_eq!(said(&one, &settings), part);
    }
}

#[test]
fn a_graph_without_edges_or_ranks_is_no_trouble() {
    let features = [[1.0f32], [2.0]];
    for (edges, count) in [(&[][..], 0), (&[(0, 1)][..], 1)] {
        let dataset = Dataset::from_rows("small", edges, &features, &[Some(0), Some(1)]).unwrap();
        let found = explained(&dataset, &ExplainSettings::default());
        assert_eq!((found.len(), found.unranked(), found.is_empty()), (count, count, count == 0));
        assert_eq!(found.ends(0.1), (&[][..], Vec::new()));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let dataset = with(|parts| parts.node_years = Some((2000..2007).collect()));
    let settings = ExplainSettings { effects: Some(EffectSettings::default()), ..ExplainSettings::default() };
    let [one, three] = [1, 3].map(|n| with_threads(Some(n), || explained(&dataset, &settings)).unwrap());
    assert_eq!(one, three);
}

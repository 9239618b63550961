//! Graphs made of one table: who is linked with whom, and what is refused.

use std::collections::BTreeSet;
use std::path::PathBuf;

use carat_graph::link::{Link, Linked};
use carat_graph::table::TableFormat;
use carat_graph::{DataError, Dataset};
use proptest::prelude::*;

const PAYMENTS: &str = "payment,time,amount,card,device,fraud\n\
    p1,2024-03-02,10,A,x,no\n\
    p2,2024-03-01,20,A,y,yes\n\
    p3,2024-03-03,30,B,x,no\n\
    p4,2024-03-04,40,,z,no\n\
    p5,2024-03-05,50,A,n/a,no\n";

fn how(by: &[&str]) -> Link {
    let by = by.iter().map(ToString::to_string).collect();
    Link { id: Some("payment".into()), label: Some("fraud".into()), by, order: None, nearest: 5 }
}

fn read(link: &Link, tables: &[&str]) -> Result<Linked, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let write = |(k, text): (usize, &&str)| {
        let path = folder.path().join(format!("t{k}.csv"));
        std::fs::write(&path, text).unwrap();
        path
    };
    link.read(&tables.iter().enumerate().map(write).collect::<Vec<PathBuf>>())
}

fn opened(linked: &Linked) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("graph");
    linked.write(&out, TableFormat::Csv).unwrap();
    carat_graph::open(&out.display().to_string(), folder.path()).unwrap()
}

/// Every edge as a pair of ids.
fn edges(dataset: &Dataset) -> BTreeSet<(String, String)> {
    let id = |node: u32| dataset.node_ids().map_or_else(|| node.to_string(), |ids| ids[node as usize].clone());
    let (sources, targets) = (dataset.graph().sources(), dataset.graph().targets());
    sources.iter().zip(&targets).map(|(&src, &dst)| (id(src), id(dst))).collect()
}

fn both_ways(pairs: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    pairs.iter().flat_map(|(a, b)| [(a.to_string(), b.to_string()), (b.to_string(), a.to_string())]).collect()
}

#[test]
fn rows_with_the_same_text_are_linked_both_ways() {
    let linked = read(&how(&["card", "device"]), &[PAYMENTS]).unwrap();
    let dataset = opened(&linked);
    assert_eq!(edges(&dataset), both_ways(&[("p1", "p2"), ("p1", "p5"), ("p2", "p5"), ("p1", "p3")]));
    // p4 has no card, and no other payment its device.
    assert_eq!((linked.num_nodes(), linked.num_edges(), linked.alone), (5, 8, 1));
    assert_eq!((linked.by[0].shared, linked.by[0].largest, linked.by[0].pairs), (1, 3, 3));
    assert_eq!((linked.by[1].shared, linked.by[1].largest, linked.by[1].pairs), (1, 2, 1));
    assert_eq!(dataset.class_names().unwrap(), ["no", "yes"]);
    assert_eq!(dataset.edge_features().unwrap().names(), ["same_card", "same_device"]);
    let columns: Vec<&str> = dataset.table().unwrap().columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(columns, ["time", "amount"]);
    // An edge of one column needs no mark.
    assert!(opened(&read(&how(&["card"]), &[PAYMENTS]).unwrap()).edge_features().is_none());
}

#[test]
fn the_nearest_rows_are_those_of_the_order() {
    let nearest = |order: Option<&str>| {
        let link = Link { order: order.map(String::from), nearest: 1, ..how(&["card"]) };
        edges(&opened(&read(&link, &[PAYMENTS]).unwrap()))
    };
    assert_eq!(nearest(None), both_ways(&[("p1", "p2"), ("p2", "p5")]));
    assert_eq!(nearest(Some("time")), both_ways(&[("p2", "p1"), ("p1", "p5")]));
    assert_eq!(nearest(Some("amount")), nearest(None));
}

#[test]
fn a_later_table_may_lack_the_label_and_have_its_columns_in_another_order() {
    let later = "device,card,amount,time,payment\nx,A,60,2024-03-06,q1\n";
    let dataset = opened(&read(&how(&["card", "device"]), &[PAYMENTS, later]).unwrap());
    assert!(edges(&dataset).contains(&("p3".to_string(), "q1".to_string())));
    assert_eq!(dataset.labels().get(5), None);
    assert_eq!(dataset.labels().get(1), Some(1));
    let numbered = Link { id: None, label: None, ..how(&["card"]) };
    let dataset = opened(&read(&numbered, &["card,label,v\nA,1,2.5\nB,0,1\nA,,3\n"]).unwrap());
    assert_eq!(edges(&dataset), both_ways(&[("0", "2")]));
}

#[test]
fn what_cannot_be_linked_is_said() {
    let problem = |link: &Link, tables: &[&str]| read(link, tables).unwrap_err().to_string();
    let say = |found: String, words: &str| assert!(found.contains(words), "{found}");
    say(problem(&how(&["cart"]), &[PAYMENTS]), "t0.csv: there is no column 'cart'; the columns are payment, time");
    say(problem(&how(&["fraud"]), &[PAYMENTS]), "cannot link by 'fraud': it is the label");
    say(problem(&how(&["payment"]), &[PAYMENTS]), "cannot link by 'payment': it is the id");
    say(problem(&how(&["card", "card"]), &[PAYMENTS]), "cannot link by 'card': it is named twice");
    say(problem(&how(&["card"]), &[PAYMENTS, PAYMENTS]), "t1.csv:2: id 'p1' is used twice");
    say(problem(&how(&["card"]), &[PAYMENTS, "payment,card,new\n"]), "t1.csv: the column 'new' is not in the first");
    say(problem(&how(&["card"]), &[PAYMENTS, "payment,card\n"]), "t1.csv: there is no column 'time'");
    say(problem(&how(&["card"]), &["payment,card,fraud\n"]), "t0.csv: there are no rows, only a header");
    let by_device = Link { order: Some("device".into()), ..how(&["card"]) };
    say(problem(&by_device, &[PAYMENTS]), "t0.csv:2: 'x' of column 'device' is neither a number nor a date");
    say(problem(&how(&["card"]), &["id,payment,card,fraud\n"]), "there is a column 'id' beside the one that is given");
    say(problem(&how(&["card"]), &["payment,card,fraud\n,A,no\n"]), "t0.csv:2: the id is empty");
}

proptest! {
    /// Against the definition: rows are linked if they are near each other in the chain of a text.
    #[test]
    fn links_are_those_of_the_definition(
        cards in proptest::collection::vec((0u8..4, 0u8..3), 2..30),
        nearest in 1usize..4,
    ) {
        let rows: Vec<String> =
            cards.iter().enumerate().map(|(k, (card, device))| format!("{k},{card}.c,{device}.d,{k}\n")).collect();
        let link = Link { id: None, label: None, by: vec!["card".into(), "device".into()], order: None, nearest };
        let linked = read(&link, &[&format!("id,card,device,v\n{}", rows.concat())]).unwrap();
        let mut expected = BTreeSet::new();
        for (a, of_a) in cards.iter().enumerate() {
            for (b, of_b) in cards.iter().enumerate().skip(a + 1) {
                let between = |same: &dyn Fn(&(u8, u8)) -> bool| cards[a..b].iter().filter(|row| same(row)).count();
                let by_card = of_a.0 == of_b.0 && between(&|row| row.0 == of_a.0) <= nearest;
                let by_device = of_a.1 == of_b.1 && between(&|row| row.1 == of_a.1) <= nearest;
                if by_card || by_device {
                    expected.extend([(a.to_string(), b.to_string()), (b.to_string(), a.to_string())]);
                }
            }
        }
        prop_assert_eq!(linked.num_edges(), expected.len());
        if !expected.is_empty() {
            prop_assert_eq!(edges(&opened(&linked)), expected);
        }
    }
}

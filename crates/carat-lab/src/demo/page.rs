//! The demo's HTML page.

use super::{DemoReport, HEADINGS, findings, meaning, planted_graph, rows};
use crate::figures;
use crate::page::Page;

/// The whole page: findings, table, figures, what was measured and how to repeat it.
pub fn page(report: &DemoReport) -> String {
    let mut page = Page::new("carat demo: what spurious edges cost graph attention networks");
    page.paragraph(&planted_graph(report));
    page.paragraph(
        "The question here: how much accuracy do the spurious edges cost, and does plain attention turn away from them \
         by itself? Every network is trained as it stands, without any regulariser.",
    );
    page.heading("What came out");
    page.list(&findings(report));
    page.table(&HEADINGS, &rows(report));
    page.list(&meaning(report).map(|(name, text)| format!("{name}: {text}.")));
    page.heading("Figures");
    page.figure(&figures::accuracy(report));
    page.figure(&figures::attention(report));
    page.figure(&figures::curves(report));
    page.heading("What this shows, and what it does not");
    page.list(&limits(report));
    page.heading("How it was measured");
    page.paragraph(&method(report));
    page.table(&["setting", ">value"], &settings(report));
    page.paragraph(
        "The same command gives the same numbers on any number of threads. They lie in this file as JSON, in the \
         element with the id 'report', with every run and its learning curve.",
    );
    page.code(&format!("carat demo --seeds {} --nodes {}", report.config.seeds, report.config.planted.nodes));
    page.data("report", report);
    page.finish()
}

fn limits(report: &DemoReport) -> Vec<String> {
    vec![
        "The graph is built for this question, and its default settings were chosen so that spurious edges cost accuracy. \
         The size of the effect is a property of those settings; it says nothing about how large it is on real graphs."
            .into(),
        format!(
            "With {} there is no test of significance here; the figures show every run instead.",
            if report.config.seeds == 1 { "one seed".to_string() } else { format!("{} seeds", report.config.seeds) }
        ),
        "The oracle knows which edges were planted. It shows about how much there is to win by ignoring them, and is no method.".into(),
        "Attention is that of the last layer. In a network of several layers, what a neighbour passes on is itself a \
         mixture of what it heard, so little attention on spurious edges in one layer is not the same as no influence."
            .into(),
    ]
}

fn method(report: &DemoReport) -> String {
    let (graph, train) = (&report.graph, &report.config.train);
    format!(
        "Each seed draws a graph, with {} training, {} validation and {} test nodes. On it each attention kind is trained \
         twice, with all edges and with useful edges only, from the same initial weights and with the same batches. \
         Training stops after {} epochs without a new lowest validation loss and keeps the weights of the lowest. \
         Attention is averaged over heads and measured on the test nodes that have in-edges of both kinds.",
        graph.train,
        graph.val,
        graph.test,
        train.patience()
    )
}

fn settings(report: &DemoReport) -> Vec<Vec<String>> {
    let (planted, train) = (&report.config.planted, &report.config.train);
    let settings = [
        ("graphs and runs per row (seeds)", report.config.seeds.to_string()),
        ("nodes", planted.nodes.to_string()),
        ("share of nodes that are decoys", planted.decoy_share.to_string()),
        ("mean in-degree", planted.mean_degree.to_string()),
        ("share of in-edges drawn as spurious", planted.spurious_share.to_string()),
        ("share of useful edges within a class", planted.homophily.to_string()),
        ("shortcut: how often a training node's spurious edge is aimed at its class", planted.shortcut.to_string()),
        ("width, heads, layers", format!("{}, {}, {}", train.hidden, train.heads, train.layers)),
        ("learning rate", train.lr.to_string()),
        ("most epochs", train.epochs.to_string()),
    ];
    settings.map(|(name, value)| vec![name.to_string(), value]).to_vec()
}

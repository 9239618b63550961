//! The demo's HTML page.

use carat_report::page::Page;
use carat_report::{Cell, Column, Table};

use super::{
    ATTENTION, DemoConfig, DemoReport, FAITHFULNESS, MEASURES, Verdict, chart, conclusion, cost, measured,
    planted_graph, statistics, summary, treatments,
};

/// The whole page: the story with its table, a figure per measure, the limits, every kind's figures, the method, and
/// the command that repeats the demo.
pub fn page(report: &DemoReport) -> String {
    let mut page = Page::new("carat demo: may attention be read as an explanation?");
    page.heading("What is attention?");
    page.paragraph(ATTENTION);
    page.paragraph(FAITHFULNESS);
    page.heading("What did we plant?");
    page.paragraph(&planted_graph(report));
    page.paragraph("Compared, with everything else equal:");
    let treatments = treatments(report).into_iter().map(|(name, meaning)| format!("{name}: {meaning}."));
    page.list(&treatments.collect::<Vec<_>>());
    page.heading("What does CAR change, and is it more than smoothing?");
    conclusion(report).iter().for_each(|sentence| page.paragraph(sentence));
    report.causal().for_each(|pair| page.table(&summary(report, pair)));
    page.paragraph(&statistics(report));
    page.paragraph(&cost(report));
    for measure in MEASURES {
        page.chart(&chart::sweep(report, measure));
    }
    page.heading("What this shows, and what it does not");
    page.list(&limits(report));
    page.heading("Every attention kind by itself");
    for measure in MEASURES {
        measured(report, measure).iter().for_each(|table| page.table(table));
    }
    page.heading("How it was measured");
    page.paragraph(&method(report));
    page.paragraph(&strength(&report.config));
    page.table(&settings(&report.config));
    page.paragraph(
        "The same command gives the same numbers on any number of threads. They lie in this file as JSON, with every \
         run, in the element with the id 'report'.",
    );
    page.code(&command(&report.config));
    page.data("report", report);
    page.finish()
}

fn limits(report: &DemoReport) -> Vec<String> {
    let comparisons = report.comparisons.len();
    let seeds = report.config.seeds;
    vec![
        "The graph is built for this question. How large an effect is follows from the generator's settings and says \
         nothing about its size on real graphs."
            .into(),
        "CAR measures effects on training nodes. A simpler model (softmax regression, see the generator's \
         documentation) tells what to expect of them: with a shortcut weaker than about 0.5, deleting a useful edge \
         hurts a training node more often than deleting a spurious one; with a stronger one it is the other way round, \
         and effects point to the wrong edges. A real graph does not tell how strong its shortcuts are."
            .into(),
        if seeds < Verdict::FEWEST_SEEDS {
            format!("{comparisons} comparisons over few graphs: read the figures, not the probabilities.")
        } else {
            let by_chance = comparisons as f64 / 20.0;
            format!("Of {comparisons} comparisons, chance alone would make at most about {by_chance:.0} clear.")
        },
        "Attention is that of the last layer. What a neighbour passes on is itself a mixture of what it heard, so \
         little attention on spurious edges in one layer is not the same as no influence."
            .into(),
    ]
}

fn method(report: &DemoReport) -> String {
    let (graph, train) = (&report.graph, &report.config.train);
    format!(
        "Each seed draws a graph per strength, with {} training, {} validation and {} test nodes. Runs on one graph \
         with one attention kind share the initial weights and the batches. Training stops after {} epochs without a \
         new lowest validation loss and keeps the weights of the lowest. Attention is averaged over heads; its share \
         on spurious edges is measured on the test nodes that have in-edges of both kinds.",
        graph.train,
        graph.val,
        graph.test,
        train.stopping.patience()
    )
}

/// How lambda was chosen. The default was chosen for the default settings, so only they explain it.
fn strength(config: &DemoConfig) -> String {
    let lambda = &config.train.regulariser.lambda;
    let default = DemoConfig::default();
    let chosen =
        (&config.train, &config.planted, &config.shortcuts) == (&default.train, &default.planted, &default.shortcuts);
    if chosen {
        format!(
            "The regularisers' strength, lambda, was fixed at {lambda} before these graphs were drawn: of 0.1, 0.5, 1 \
             and 5 it had the lowest mean validation loss on graphs of other seeds (1000 to 1003), for CAR and for the \
             control alike. No test node had a say."
        )
    } else {
        format!("The regularisers' strength, lambda, was given as {lambda}.")
    }
}

fn settings(config: &DemoConfig) -> Table {
    let (planted, train) = (&config.planted, &config.train);
    let settings = [
        ("graphs per strength (seeds)", config.seeds.to_string()),
        ("first seed", config.first_seed.to_string()),
        ("nodes", planted.nodes.to_string()),
        ("share of nodes that are decoys", planted.decoy_share.to_string()),
        ("mean in-degree", planted.mean_degree.to_string()),
        ("share of in-edges drawn as spurious", planted.spurious_share.to_string()),
        ("share of useful edges within a class", planted.homophily.to_string()),
        (
            "width, heads, layers",
            format!("{}, {}, {}", train.network.hidden, train.network.heads, train.network.layers),
        ),
        ("lambda", train.regulariser.lambda.to_string()),
        ("in-edges deleted per training node and step", train.regulariser.rounds.to_string()),
        ("learning rate", train.optimiser.lr.to_string()),
        ("most epochs", train.stopping.epochs.to_string()),
    ];
    let rows = settings.map(|(name, value)| vec![Cell::text(name), Cell::text(value)]).to_vec();
    let columns = vec![Column::text("setting"), Column::numbers("value")];
    Table { name: String::new(), caption: "Settings".into(), columns, rows }
}

/// The command that repeats the demo.
fn command(config: &DemoConfig) -> String {
    let every_node = if config.every_node { " --every-node" } else { "" };
    format!(
        "carat demo --seed {} --seeds {} --nodes {} --lambda {}{every_node}",
        config.first_seed, config.seeds, config.planted.nodes, config.train.regulariser.lambda
    )
}

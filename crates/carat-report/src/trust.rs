//! The report on trust: may the attention of a network be read as an explanation?

use carat::Task;
use carat::trust::{Curve, Faithfulness, JudgedEntity, Observed, Of, Planted, Reading, ReadingTrust, SHARES, Trust};
use carat_graph::Dataset;

use crate::explain::ListedNode;
use crate::figures::{Axis, Chart, ChartPanel, Mark};
use crate::format::{self, UNDEFINED, counted, number_cell, signed};
use crate::{Block, Cell, Report, Section, Table};

/// Nodes that the page lists.
const LISTED: usize = 20;

const HOW_TO_READ: [&str; 6] = [
    "An edge's effect, Delta, is measured exactly: log p with all edges minus log p without this one. Above 0 the edge \
     speaks for the class, below 0 against it. A change of less than 0.05 is less than 5 % of the probability.",
    "Faithfulness is the correlation, over the in-edges of a node, of attention with Delta of the true class: does \
     attention say what helps to be right? Self-faithfulness takes the predicted class: does it say what the network \
     relies on? It needs no labels. Both are means over nodes with at least two in-edges; 1 is perfect, and 0 is what \
     uniform or random attention has. The rank columns have Spearman's correlation in place of Pearson's.",
    "Deletion curves: every node loses its in-edges one after another, and the curve is the mean probability of the \
     class that it was predicted with all of them. If attention names the edges that predictions rest on, the curve \
     that deletes the most attended first falls faster than chance, and the one that deletes the least attended first \
     falls slower. The order by effect is nearly the best possible.",
    "Fidelity takes the 30 % of a node's in-edges with the most attention as its explanation. Fidelity+ is how much \
     probability goes without them (high: they are needed), fidelity- how much goes with them alone (low: they \
     suffice).",
    "A network may be right without attention being faithful: when a prediction rests on the node's own features, or \
     when its neighbours say all the same, no single edge matters. Then the curves are flat, and attention explains \
     nothing, because there is nothing to explain.",
    "Where attention may not be trusted, 'carat effects' measures what every edge does, for the price of one deletion \
     each.",
];

/// One more point, where it is known which edges matter.
const PLANTED: &str = "Planted AUC is the probability that an edge that was planted as a reason has more attention \
                       than another edge of the same node: 1 is perfect, 0.5 is chance. Nodes without edges of both \
                       kinds do not count. The exact effects are judged alike: below 1, the network relies on other \
                       edges, too.";

/// The report. `about` is what was trained, on what.
pub fn report(found: &Trust, observed: &Observed, dataset: &Dataset, about: &str) -> Report {
    let lead = vec![
        Block::Paragraph(format!("{}.", found.verdict.title())),
        Block::Paragraph(found.sentence()),
        Block::Paragraph(about.into()),
    ];
    let mut sections = Vec::new();
    if found.curve_entities > 0 {
        sections.push(Section::new(
            "curves",
            "What becomes of predictions without the most attended edges",
            vec![Block::Chart(curves_chart(found)), Block::Table(curves_table(found))],
        ));
    }
    sections.push(Section::new(
        "readings",
        "Layer by layer, head by head",
        vec![Block::Chart(readings_chart(found)), Block::Table(readings_table(found))],
    ));
    sections.push(Section::new("nodes", "Where it may not be trusted", nodes(found, observed, dataset)));
    let points = HOW_TO_READ.into_iter().chain(found.planted.map(|_| PLANTED));
    let reading = points.map(|point| point.replace("node", found.entity_word())).collect();
    sections.push(Section::new("reading", "How to read this", vec![Block::Points(reading)]));
    Report { title: "May this attention be read as an explanation?".into(), lead, sections }
}

fn of_entities(found: &Trust) -> String {
    counted(found.curve_entities, found.entity_word())
}

/// What the curves find, as a chart's title.
fn curves_finding(found: &Trust) -> String {
    match found.share_of_best() {
        None => "No order of deletion changes predictions much".into(),
        Some(share) if share < 0.05 => {
            "Deleting the most attended edges first changes predictions no faster than chance".into()
        }
        Some(share) => format!(
            "Deleting the most attended edges first comes {:.0} % of the way from chance to the best order",
            100.0 * share
        ),
    }
}

/// The curves, by name, the best order last.
fn named(found: &Trust) -> [(&'static str, &Curve); 4] {
    let curves = &found.curves;
    [
        ("most attended first", &curves.highest),
        ("least attended first", &curves.lowest),
        ("random order", &curves.random),
        ("by effect (nearly the best)", &curves.best),
    ]
}

fn curves_chart(found: &Trust) -> Chart {
    let panel = |title: &str, label: &str, values: fn(&Curve) -> &[f64]| {
        let marks = named(found).into_iter().enumerate().flat_map(|(series, (name, curve))| {
            let points: Vec<(f64, f64)> =
                SHARES.iter().zip(values(curve)).map(|(share, &value)| (100.0 * share, value)).collect();
            let tip = |(share, value): (f64, f64)| format!("{name}, {share:.0} % deleted: {value:.3}");
            let dots: Vec<Mark> =
                points.iter().map(|&at| Mark::Dot { at, series, radius: 2.5, tip: tip(at) }).collect();
            std::iter::once(Mark::Line { points, series, tip: name.into() }).chain(dots)
        });
        ChartPanel {
            title: title.into(),
            note: String::new(),
            x: Axis::new(format!("{} deleted (%)", if found.task == Task::Graph { "edges" } else { "in-edges" })),
            y: Axis::new(label),
            marks: marks.collect(),
        }
    };
    Chart {
        title: curves_finding(found),
        caption: format!(
            "Means over {}. The faster a curve falls, the better its order names the edges that predictions rest on. \
             The vertical axes do not start at 0.",
            of_entities(found)
        ),
        series: named(found).iter().map(|(name, _)| name.to_string()).collect(),
        panels: vec![
            panel("Probability of the predicted class", "mean probability", |curve| &curve.probability),
            panel("Predictions that stay", "share of predictions", |curve| &curve.unchanged),
        ],
    }
}

fn curves_table(found: &Trust) -> Table {
    let row = |(name, curve): (&str, &Curve)| {
        let area = found.curves.random.area_above(curve);
        let fidelity = |value: f64| (name == "most attended first").then_some(value);
        let fidelities = [found.fidelity.plus, found.fidelity.minus, found.fidelity.characterisation];
        [Cell::text(name), Cell::number(signed(area, 3), area), number_cell(curve.probability.get(5).copied(), 3)]
            .into_iter()
            .chain(fidelities.map(|value| number_cell(fidelity(value), 3)))
            .collect::<Vec<Cell>>()
    };
    Table::new(
        "curves",
        "Areas between the curve of random order and each other one, the probability left after half of the edges, and \
         fidelity of the 30 % most attended",
        ["order of deletion"],
        ["area", "probability at 50 %", "fidelity+", "fidelity-", "characterisation"],
        named(found).into_iter().map(row),
    )
}

fn readings_chart(found: &Trust) -> Chart {
    let name = |reading: &ReadingTrust| match reading.reading {
        Reading::Mean => "mean of all".to_string(),
        other => other.to_string(),
    };
    let names: Vec<String> = found.readings.iter().map(name).collect();
    let series = ["faithfulness (true class)", "self-faithfulness (predicted class)"];
    let mut marks = vec![Mark::Level(0.0, "uniform attention".into())];
    for (place, reading) in found.readings.iter().enumerate() {
        for (series, measured) in [reading.faithfulness, reading.self_faithfulness].into_iter().enumerate() {
            let (Some(mean), error) = (measured.pearson, measured.error.unwrap_or(0.0)) else { continue };
            let tip = format!("{}: {mean:.3} ± {error:.3}", names[place]);
            let range = (mean - 2.0 * error, mean + 2.0 * error);
            marks.push(Mark::Interval { at: place as f64, range, series, tip: tip.clone() });
            marks.push(Mark::Dot { at: (place as f64, mean), series, radius: 3.5, tip });
        }
    }
    let best = found.readings.iter().filter_map(|reading| Some((reading.self_faithfulness.pearson?, reading.reading)));
    let title = match best.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((value, Reading::Mean)) => format!("The mean of layers and heads is the best reading: {value:.2}"),
        Some((value, reading)) => format!("The most faithful reading is {reading}: {value:.2}"),
        None => "No reading can be judged".into(),
    };
    Chart {
        title,
        caption: "Correlation of attention with what edges do. Strokes are two standard errors to either side.".into(),
        series: series.map(String::from).to_vec(),
        panels: vec![ChartPanel {
            title: String::new(),
            note: String::new(),
            x: Axis::of_categories(names),
            y: Axis::new("correlation"),
            marks,
        }],
    }
}

fn readings_table(found: &Trust) -> Table {
    let has_truth = found.planted.is_some();
    let measured = |of: Faithfulness| [of.pearson, of.error, of.spearman].map(|value| number_cell(value, 3));
    let planted = |of: Option<Planted>| number_cell(of.map(|planted| planted.auc), 3);
    let rows = found.readings.iter().map(|reading| {
        let mut row = vec![Cell::text(reading.reading.to_string())];
        row.extend(measured(reading.faithfulness));
        row.extend(measured(reading.self_faithfulness));
        row.extend(has_truth.then(|| planted(reading.planted)));
        row
    });
    let exact = has_truth.then(|| {
        let mut row = vec![Cell::text("the exact effects")];
        row.resize_with(7, || Cell::text(UNDEFINED));
        row.push(planted(found.planted));
        row
    });
    let judged = found.mean().self_faithfulness;
    let truth = found.planted.map_or_else(String::new, |planted| {
        format!("; planted AUC over {} with planted and other edges", counted(planted.entities, found.entity_word()))
    });
    let mut numbers = vec!["faithfulness", "± error", "rank", "self-faithfulness", "± error of self", "rank of self"];
    numbers.extend(has_truth.then_some("planted AUC"));
    let entity = found.entity_word();
    Table::new(
        "readings",
        format!(
            "Faithfulness of attention over {}; {} with several edges {} left out, because all of them do the \
             same{truth}",
            counted(judged.entities, entity),
            counted(judged.left_out, entity),
            if judged.left_out == 1 { "is" } else { "are" }
        ),
        ["attention"],
        numbers,
        rows.chain(exact),
    )
}

/// The entities that attention explains worst, of those whose edges matter most.
fn nodes(found: &Trust, observed: &Observed, dataset: &Dataset) -> Vec<Block> {
    let deltas = observed.deltas(Of::Prediction);
    let judged = observed.judged();
    let mut wrong: Vec<&JudgedEntity> = judged.iter().filter(|entity| entity.correlation <= 0.0).collect();
    wrong.sort_by(|a, b| {
        let stake = |entity: &JudgedEntity| deltas[entity.most_effective].abs();
        stake(b).total_cmp(&stake(a)).then(a.entity.cmp(&b.entity))
    });
    let entity = found.entity_word();
    let examples = match wrong.is_empty() {
        true => String::new(),
        false => format!(" Here are those where an edge matters most; {entity}s.csv has all."),
    };
    let share = Block::Paragraph(format!(
        "At {} of {} {entity}s that can be judged, attention is higher on the edges that do less for the prediction \
         (correlation 0 or below).{examples}",
        format::thousands(wrong.len()),
        format::thousands(judged.len()),
    ));
    let attention = observed.read(Reading::Mean);
    let source = |edge: usize| {
        let (src, dst) = (observed.effects.src[edge], observed.effects.dst[edge]);
        if found.task == Task::Graph { format!("{src} to {dst}") } else { ListedNode::of(dataset, src).shown() }
    };
    let row = |entity: &&JudgedEntity| {
        let name = match found.task {
            Task::Graph => format!("graph {}", entity.entity),
            Task::Node => ListedNode::of(dataset, entity.entity).shown(),
        };
        let edge = |edge: usize| {
            [
                Cell::number(format!("{:.3}", attention[edge]), attention[edge]),
                Cell::number(signed(deltas[edge], 3), deltas[edge]),
            ]
        };
        let [most_attended, most_effective] = [entity.most_attended, entity.most_effective];
        let mut row = vec![Cell::text(name), Cell::text(source(most_attended)), Cell::text(source(most_effective))];
        row.push(format::count_cell(entity.edges));
        row.push(Cell::number(signed(entity.correlation, 2), entity.correlation));
        row.extend(edge(most_attended));
        row.extend(edge(most_effective));
        row
    };
    let table = Table::new(
        "worst",
        format!("{} that attention explains worst", format::capitalised(&format!("{entity}s"))),
        [entity, "most attended edge", "edge that matters most"],
        ["edges", "correlation", "attention on the first", "its effect", "attention on the second", "its effect there"],
        wrong.iter().take(LISTED).map(row),
    );
    if table.rows.is_empty() { vec![share] } else { vec![share, Block::Table(table)] }
}

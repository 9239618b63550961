//! The appendix's study of homophily on synthetic Cora graphs.

use carat::{Error, Protocol};
use carat_lab::compare::{Comparison, Measure, Pairing};
use carat_lab::sweep::Grid;
use carat_report::figures::{Axis, Chart, ChartPanel, Mark};
use carat_report::statistics::{SIGNIFICANT, Spread, median};
use carat_report::{Cell, Column, Table, format};

use super::draft::PROTOCOLS;
use super::finding::{Answer, Finding, Verdict};
use super::{About, Draft, Inputs, Item, Scope};

/// A rank correlation beyond this, in either direction, is called a trend.
const TREND: f64 = 0.5;
/// The fewest levels of homophily for which a trend is reported.
const FEWEST_LEVELS: usize = 5;

/// How clear CAR's gain is at each level of homophily.
pub(super) struct Homophily;

impl Item for Homophily {
    fn about(&self) -> About {
        About {
            name: "homophily",
            title: "Gain against homophily",
            paper_says: "on 33 synthetic Cora graphs of 11 levels of homophily, CAR gains most at low homophily, and \
                         gains generally grow as homophily falls (-log10 p of the test loss; the figure's numbers are \
                         not printed).",
        }
    }

    fn grids(&self, scope: &Scope) -> Vec<Grid> {
        let graphs = scope.synthetic.iter().filter(|(name, _)| !scope.quick || name.ends_with("-r1"));
        let heads: &[i64] = if scope.quick { &[3] } else { &[1, 3, 5] };
        let grid = |(name, _): &(String, f64)| {
            Grid::paper(name)
                .with("hidden", [100])
                .with("heads", heads.iter().copied())
                .with("lambda", [0.0, 1.0, 5.0])
                .with("seed", scope.seeds.iter().map(|seed| *seed as i64))
        };
        graphs.map(grid).collect()
    }

    fn describe_grids(&self, scope: &Scope) -> String {
        let grid = if scope.quick {
            "a quick subset: the first of the three graphs of every level, three attention kinds, L 1 and 2, K 3, F \
             100, lambda 1 and 5"
        } else {
            "the paper's settings: all 33 graphs, three attention kinds, L 1 and 2, K 1, 3 and 5, F 100, lambda 1 and 5"
        };
        format!("{grid}; split 0, {}", format::counted(scope.seeds.len(), "seed"))
    }

    fn draw(&self, inputs: &Inputs<'_>, draft: &mut Draft) -> Result<(), Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairing = found.car();
        let studies = PROTOCOLS.map(|protocol| Study::of(&pairing, scope, protocol));
        draft.found(studies.iter().map(Study::sentence).collect());
        draft.chart(evidence_chart(&studies));
        draft.chart(accuracy_chart(&studies));
        draft.table(table(&studies));
        draft.paragraph(
            "The files hold no splits; seeded stratified ones are made here, with 60 % of the nodes for training, 20 % \
             for validation and 20 % for testing. The paper does not state its own. With n pairs per graph, -log10 p \
             cannot exceed about 0.3 n.",
        );
        draft.unused(pairing.unpaired);
        Ok(())
    }

    fn findings(&self, inputs: &Inputs<'_>) -> Result<Vec<Finding>, Error> {
        let Inputs { found, scope, .. } = inputs;
        let pairing = found.car();
        let answer = |protocol| {
            let study = Study::of(&pairing, scope, protocol);
            let correlation = study.correlation();
            let verdict = match correlation {
                None => Verdict::Unknown,
                Some(_) if study.levels().count() < FEWEST_LEVELS => Verdict::TooFew,
                Some(correlation) if correlation < -TREND => Verdict::Reproduced,
                Some(_) => Verdict::NotReproduced,
            };
            let text = correlation.map_or("no runs".to_string(), |value| format!("rank correlation {value:+.2}"));
            Answer { protocol, text, verdict }
        };
        Ok(vec![Finding {
            item: self.name(),
            claim: "gains grow as homophily falls".into(),
            paper: Some("generally".into()),
            answers: PROTOCOLS.map(answer).to_vec(),
        }])
    }
}

/// One graph.
struct Replicate {
    name: String,
    homophily: f64,
    loss: Comparison,
    accuracy: Option<Comparison>,
}

/// The graphs under one protocol, by homophily.
struct Study {
    protocol: Protocol,
    graphs: Vec<Replicate>,
}

impl Study {
    fn of(pairing: &Pairing<'_>, scope: &Scope, protocol: Protocol) -> Self {
        let graph = |(name, homophily): &(String, f64)| {
            let pairs = pairing.on(name, protocol);
            let accuracy = Comparison::of(&pairs, Measure::TEST_ACCURACY);
            let loss = Comparison::of(&pairs, Measure::TEST_LOSS)?;
            Some(Replicate { name: name.clone(), homophily: *homophily, loss, accuracy })
        };
        let mut graphs: Vec<Replicate> = scope.synthetic.iter().filter_map(graph).collect();
        graphs.sort_by(|a, b| a.homophily.total_cmp(&b.homophily));
        Self { protocol, graphs }
    }

    /// The graphs, grouped by level of homophily, from low to high.
    fn levels(&self) -> impl Iterator<Item = &[Replicate]> {
        self.graphs.chunk_by(|a, b| a.homophily == b.homophily)
    }

    /// -log10 p of every graph against its homophily.
    fn evidence(&self) -> Vec<(f64, f64)> {
        let point = |graph: &Replicate| Some((graph.homophily, format::evidence(graph.loss.p_better?)));
        self.graphs.iter().filter_map(point).collect()
    }

    fn correlation(&self) -> Option<f64> {
        rank_correlation(&self.evidence())
    }

    fn sentence(&self) -> String {
        let Self { protocol, .. } = self;
        let better = self.graphs.iter().filter(|graph| graph.loss.is_better()).count();
        let graphs = format::counted(self.graphs.len(), "graph");
        let trend = match self.correlation().filter(|_| self.levels().count() >= FEWEST_LEVELS) {
            None => "too few levels of homophily to tell a trend".to_string(),
            Some(value) => {
                let trend = match value {
                    value if value < -TREND => "gains grow as homophily falls",
                    value if value > TREND => "gains grow as homophily rises, against what the paper found",
                    _ => "gains have no clear trend with homophily",
                };
                format!("{trend} (rank correlation of -log10 p with homophily {value:+.2})")
            }
        };
        format!("lower test loss in {better} of {graphs} at p < {SIGNIFICANT} under protocol {protocol}; {trend}")
    }
}

/// Spearman's: the correlation of ranks, equal values sharing their mean rank. `None` where either side never changes.
fn rank_correlation(points: &[(f64, f64)]) -> Option<f64> {
    let ranks = |values: Vec<f64>| -> Vec<f64> {
        let below = |value: f64| values.iter().filter(|other| **other < value).count() as f64;
        let equal = |value: f64| values.iter().filter(|other| **other == value).count() as f64;
        values.iter().map(|value| below(*value) + (equal(*value) - 1.0) / 2.0).collect()
    };
    let x = ranks(points.iter().map(|point| point.0).collect());
    let y = ranks(points.iter().map(|point| point.1).collect());
    let (mean_x, mean_y) = (Spread::of(&x)?.mean, Spread::of(&y)?.mean);
    let sum = |a: &[f64], mean_a: f64, b: &[f64], mean_b: f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum()
    };
    let scale = (sum(&x, mean_x, &x, mean_x) * sum(&y, mean_y, &y, mean_y)).sqrt();
    (scale > 0.0).then(|| sum(&x, mean_x, &y, mean_y) / scale)
}

fn homophily_axis() -> Axis {
    Axis { label: "edge homophily".into(), range: Some((-0.03, 1.03)), ..Axis::default() }
}

fn evidence_chart(studies: &[Study; 2]) -> Chart {
    let panel = |study: &Study| {
        let mut marks = vec![Mark::Level(format::evidence(SIGNIFICANT), "p 0.05".into())];
        let level = |graphs: &[Replicate]| {
            let values: Vec<f64> =
                graphs.iter().filter_map(|graph| graph.loss.p_better).map(format::evidence).collect();
            Some((graphs.first()?.homophily, median(&values)?))
        };
        marks.push(Mark::Line {
            points: study.levels().filter_map(level).collect(),
            series: 1,
            tip: "median of each level".into(),
        });
        for graph in &study.graphs {
            let Some(p) = graph.loss.p_better else { continue };
            let tip = format!("{}: p {}, {} pairs", graph.name, format::probability(p), graph.loss.pairs);
            marks.push(Mark::Dot { at: (graph.homophily, format::evidence(p)), series: 0, radius: 3.5, tip });
        }
        let note = study.correlation().map_or(String::new(), |value| format!("rank correlation {value:+.2}"));
        let y = Axis::new("-log10 p, test loss");
        ChartPanel { title: format!("protocol {}", study.protocol), note, x: homophily_axis(), y, marks }
    };
    Chart {
        title: "How clearly CAR lowers the test loss, against homophily".into(),
        caption: "One dot per synthetic graph: -log10 p of a one-tailed paired Wilcoxon test over its settings. Above \
                  the dashed line p is below 0.05."
            .into(),
        series: vec!["a graph".into(), "median".into()],
        panels: studies.iter().map(panel).collect(),
    }
}

fn accuracy_chart(studies: &[Study; 2]) -> Chart {
    let panel = |study: &Study| {
        let mut marks = Vec::new();
        for series in 0..2 {
            let value =
                |comparison: &Comparison| if series == 0 { comparison.before.mean } else { comparison.after.mean };
            let level = |graphs: &[Replicate]| {
                let values: Vec<f64> = graphs.iter().filter_map(|graph| graph.accuracy.as_ref()).map(value).collect();
                Some((graphs.first()?.homophily, median(&values)?))
            };
            let side = if series == 0 { "baseline" } else { "CAR" };
            marks.push(Mark::Line {
                points: study.levels().filter_map(level).collect(),
                series,
                tip: format!("median, {side}"),
            });
            for graph in &study.graphs {
                let Some(accuracy) = &graph.accuracy else { continue };
                let tip = format!("{}, {side}: {:.3}", graph.name, value(accuracy));
                marks.push(Mark::Dot { at: (graph.homophily, value(accuracy)), series, radius: 3.0, tip });
            }
        }
        let y = Axis::new("test accuracy");
        ChartPanel { title: format!("protocol {}", study.protocol), note: String::new(), x: homophily_axis(), y, marks }
    };
    Chart {
        title: "Test accuracy against homophily".into(),
        caption: "Dots are means over the settings of one graph; lines join the medians of each level.".into(),
        series: vec!["baseline".into(), "CAR".into()],
        panels: studies.iter().map(panel).collect(),
    }
}

fn table(studies: &[Study; 2]) -> Table {
    let row = |study: &Study, graphs: &[Replicate]| {
        let of =
            |figure: &dyn Fn(&Replicate) -> Option<f64>| median(&graphs.iter().filter_map(figure).collect::<Vec<_>>());
        vec![
            format::number_cell(graphs.first().map(|graph| graph.homophily), 1),
            Cell::text(study.protocol.name()),
            format::count_cell(graphs.len()),
            format::count_cell(graphs.iter().map(|graph| graph.loss.pairs).sum()),
            format::number_cell(of(&|graph| graph.loss.p_better.map(format::evidence)), 2),
            format::percent_cell(of(&|graph| graph.loss.mean_percent())),
            format::number_cell(of(&|graph| graph.accuracy.as_ref().map(|accuracy| accuracy.before.mean)), 3),
            format::number_cell(of(&|graph| graph.accuracy.as_ref().map(|accuracy| accuracy.after.mean)), 3),
        ]
    };
    let rows = studies.iter().flat_map(|study| study.levels().map(move |graphs| row(study, graphs)));
    let mut columns = vec![Column::numbers("homophily"), Column::text("protocol")];
    let headings = ["graphs", "pairs", "-log10 p, test loss", "change of loss", "accuracy, baseline", "accuracy, CAR"];
    columns.extend(headings.map(Column::numbers));
    let caption = "Medians over the graphs of each level of homophily".to_string();
    Table { name: "homophily".into(), caption, columns, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::super::scope::everything;
    use super::*;
    use carat_lab::compare::made_up::{baseline, both_protocols, regularised};
    use carat_lab::compare::{Method, Opponent};
    use carat_lab::sweep::Run;

    #[test]
    fn ranks_correlate_as_scipy_says() {
        // scipy.stats.spearmanr([0, 0, 1, 2], [5, 4, 4, 1]).statistic
        let found = rank_correlation(&[(0.0, 5.0), (0.0, 4.0), (1.0, 4.0), (2.0, 1.0)]).unwrap();
        assert!((found + 0.833_333_333_333_333_4).abs() < 1e-12, "{found}");
        assert_eq!(rank_correlation(&[(0.0, 1.0), (1.0, 1.0)]), None);
        assert_eq!(rank_correlation(&[]), None);
    }

    #[test]
    fn a_trend_is_named_with_its_direction() {
        let scope = everything(false);
        let mut runs = Vec::new();
        for (name, homophily) in &scope.synthetic {
            // Better everywhere, and by fewer settings the more homophily there is.
            for setting in 1..=11 {
                let gain = if f64::from(setting) > 10.0 * homophily { 0.1 } else { -0.1 };
                runs.push(baseline(name, setting as usize, 2.0));
                runs.push(regularised(name, setting as usize, 1.0, 2.0 - gain * f64::from(setting)));
            }
        }
        let runs = both_protocols(&runs);
        let runs: Vec<&Run> = runs.iter().collect();
        let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Baseline);
        let study = Study::of(&pairing, &scope, Protocol::Paper);
        assert_eq!((study.graphs.len(), study.levels().count()), (33, 11));
        assert!(study.correlation().unwrap() < -0.9);
        let sentence = study.sentence();
        assert!(
            sentence.contains("of 33 graphs") && sentence.contains("; gains grow as homophily falls (rank"),
            "{sentence}"
        );
    }
}

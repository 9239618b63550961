//! Writes a report with every kind of block and mark into a folder, as a page, as Markdown and as files: to see how a
//! change of the style or the script looks, and how reports are put together. The numbers are made up.
//!
//! ```text
//! cargo run -p carat-report --example report_page -- /tmp/page
//! ```

use std::error::Error;
use std::path::PathBuf;

use carat_report::figures::{Axis, Chart, ChartPanel, Mark};
use carat_report::{self as report, Block, Cell, Column, Report, Section, Table};

const DATASETS: [&str; 8] =
    ["Cora", "CiteSeer", "PubMed", "Chameleon", "Squirrel", "Cornell", "Wisconsin", "</script><img onerror=x>"];
const ARMS: [&str; 5] = ["baseline", "causal", "vote", "random", "constant"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("give a folder to write to")?);
    std::fs::create_dir_all(&folder)?;
    let report = example();
    std::fs::write(folder.join("index.html"), report::html(&report))?;
    std::fs::write(folder.join("report.md"), report::markdown(&report))?;
    for (name, content) in report::files(&report) {
        std::fs::write(folder.join(name), content)?;
    }
    Ok(())
}

fn example() -> Report {
    let section = |id: &str, title: &str, blocks| Section { id: id.into(), title: title.into(), blocks };
    Report {
        title: "An example of a report".into(),
        lead: vec![
            Block::Paragraph("Every number on this page is made up. It shows each kind of block and mark once.".into()),
            Block::Points(vec![
                "Tables sort by a click on a heading; charts tell what a mark is when it is pointed at.".into(),
                "A dataset may have any name, such as </script><img onerror=x>, and stays text.".into(),
            ]),
            Block::Command("carat report runs.db --out report\ncarat reproduce all --quick".into()),
        ],
        sections: vec![
            section(
                "table1",
                "Test loss: a table of numbers",
                vec![Block::Table(losses()), Block::Chart(losses_chart())],
            ),
            section(
                "figure2",
                "Paired runs: scatter, square and with powers of ten",
                vec![Block::Chart(scatter(8, false)), Block::Chart(scatter(3, true))],
            ),
            section("figure3", "Boxes", vec![Block::Chart(boxes())]),
            section("rounds", "Lines with intervals", vec![Block::Chart(lines())]),
            section("homophily", "One panel alone", vec![Block::Chart(alone()), Block::Table(long_table())]),
            section("many", "Twenty-four panels", vec![Block::Chart(scatter(24, false))]),
            section("categories", "Many categories", vec![Block::Chart(crowd())]),
        ],
    }
}

/// Numbers from 0 to 1 that look drawn at random.
fn noise(place: usize) -> f64 {
    let scrambled = (place as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let scrambled = (scrambled ^ (scrambled >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (scrambled >> 40) as f64 / (1u64 << 24) as f64
}

fn axis(label: &str) -> Axis {
    Axis { label: label.into(), ..Axis::default() }
}

fn named<'a>(label: &str, names: impl IntoIterator<Item = &'a str>) -> Axis {
    Axis { categories: names.into_iter().map(String::from).collect(), ..axis(label) }
}

fn losses() -> Table {
    let mut columns = vec![Column::text("dataset"), Column::text("attention")];
    for (protocol, source) in [("paper", "ours"), ("paper", "the paper's"), ("best", "ours")] {
        for arm in ["baseline", "CAR"] {
            columns.push(Column::numbers(format!("{arm}, protocol {protocol}, {source}")));
        }
    }
    columns.extend([Column::numbers("p (Holm)"), Column::text("what follows")]);
    let mut rows = Vec::new();
    for (place, dataset) in DATASETS.iter().enumerate() {
        for (kind, name) in ["gat", "gatv2", "transformer"].iter().enumerate() {
            let seed = 10 * (3 * place + kind);
            let mut row = vec![Cell::text(*dataset), Cell::text(*name)];
            for pair in 0..3 {
                let baseline = 1.0 + 2.0 * noise(seed + pair);
                let regularised = baseline * (0.7 + 0.4 * noise(seed + pair + 5));
                let number = |value: f64| Cell::number(format!("{value:.2}"), value);
                let missing = pair == 1 && place >= 5;
                row.push(if missing { Cell::text("-") } else { number(baseline).strong_if(baseline < regularised) });
                row.push(if missing { Cell::text("-") } else { number(regularised).strong_if(regularised < baseline) });
            }
            let p = noise(seed + 9).powi(4);
            let text = if p < 0.001 { "<0.001".to_string() } else { format!("{p:.3}") };
            row.push(Cell::number(text, p).strong_if(p < 0.05));
            row.push(Cell::text(match p < 0.05 {
                true => "lower, and clearly so: by chance this would be rare",
                false => "the runs do not tell",
            }));
            rows.push(row);
        }
    }
    rows.truncate(15);
    let caption = "Mean test loss of all settings, ours beside the paper's. Bold: the lower of two, and p below 0.05.";
    Table { name: "table1".into(), caption: caption.into(), columns, rows }
}

fn losses_chart() -> Chart {
    let panels = ["protocol paper", "protocol best"].iter().enumerate().map(|(panel, title)| {
        let mut marks = Vec::new();
        for (category, dataset) in DATASETS.iter().enumerate() {
            for (series, arm) in ["ours", "the paper's"].iter().enumerate() {
                let value = 40.0 * noise(100 * panel + 10 * category + series) - 28.0;
                let tip = format!("{dataset}, {arm}: {value:.1} percent");
                marks.push(Mark::Bar { at: (category as f64, value), series, tip: tip.clone() });
                let range = (value - 3.0, value + 3.0);
                marks.push(Mark::Interval { at: category as f64, range, series, tip: format!("{tip}, 95% interval") });
            }
        }
        ChartPanel {
            title: title.to_string(),
            note: String::new(),
            x: named("", DATASETS),
            y: axis("change of test loss by CAR, percent"),
            marks,
        }
    });
    Chart {
        title: "Change of test loss".into(),
        caption: "Bars are means over settings, strokes 95% bootstrap intervals. Below 0: CAR lowers the loss.".into(),
        series: vec!["ours".into(), "the paper's".into()],
        panels: panels.collect(),
    }
}

fn scatter(panels: usize, logarithmic: bool) -> Chart {
    let panels = (0..panels).map(|panel| {
        let dots = (0..400).map(|place| {
            let seed = 1000 * panel + 2 * place;
            let power = |value: f64| if logarithmic { 10f64.powf(6.0 * value - 5.0) } else { 4.0 * value };
            let (without, with) = (power(noise(seed)), power(noise(seed) * (0.5 + 0.5 * noise(seed + 1))));
            let series = place % 3;
            let tip = format!(
                "{}\nL 2, K 3, F 100, lambda {}, seed {place}\n{without:.3} without CAR, {with:.3} with it",
                ["gat", "gatv2", "transformer"][series],
                [0.1, 0.5, 1.0, 5.0][place % 4]
            );
            Mark::Dot { at: (without, with), series, radius: 2.4, tip }
        });
        ChartPanel {
            title: DATASETS[panel % DATASETS.len()].into(),
            note: if panel % 3 == 1 { "p 3×10⁻⁹, below the diagonal 87%".into() } else { "p < 0.001".into() },
            x: Axis { logarithmic, ..axis("test loss without CAR") },
            y: Axis { logarithmic, ..axis("test loss with CAR") },
            marks: std::iter::once(Mark::Diagonal).chain(dots).collect(),
        }
    });
    Chart {
        title: "Test loss with and without CAR".into(),
        caption: "A dot is a pair of runs with the same seed. Under the dashed line CAR has the lower loss.".into(),
        series: ["gat", "gatv2", "transformer"].map(String::from).to_vec(),
        panels: panels.collect(),
    }
}

fn boxes() -> Chart {
    let panels = (0..3).map(|panel| {
        let mut marks = vec![Mark::Level(0.05, "uniform attention".into()), Mark::Level(0.07, "a second level".into())];
        for category in 0..3 {
            for (series, arm) in ARMS.iter().enumerate().take(3) {
                let middle = 0.1 + 0.8 * noise(50 * panel + 7 * category + series);
                let values = [0.5, 0.8, 1.0, 1.3, 2.0].map(|factor| factor * middle);
                marks.push(Mark::Box {
                    at: category as f64,
                    values,
                    series,
                    tip: format!("{arm}: median {middle:.3}"),
                });
            }
        }
        ChartPanel {
            title: DATASETS[panel].into(),
            note: String::new(),
            x: named("attention", ["gat", "gatv2", "transformer"]),
            y: axis("KL divergence from label agreement"),
            marks,
        }
    });
    Chart {
        title: "Coherence of attention".into(),
        caption: "Boxes span quartiles, strokes all runs. Lower is better; uniform attention scores well too.".into(),
        series: ARMS.iter().take(3).map(|arm| arm.to_string()).collect(),
        panels: panels.collect(),
    }
}

fn lines() -> Chart {
    let panels = DATASETS.iter().take(4).enumerate().map(|(panel, dataset)| {
        let mut marks = Vec::new();
        for (series, arm) in ARMS.iter().enumerate() {
            let value = |place: usize| {
                0.01 * place as f64 * (1.0 - 0.3 * series as f64) + 0.01 * noise(panel * 99 + series + place)
            };
            let points: Vec<(f64, f64)> = (0..5).map(|place| (place as f64, value(place))).collect();
            for &(at, mean) in &points {
                let tip = format!("{arm}, R = {}: {mean:+.3}", [1, 2, 5, 10, 20][at as usize]);
                marks.push(Mark::Interval { at, range: (mean - 0.004, mean + 0.004), series, tip: String::new() });
                marks.push(Mark::Dot { at: (at, mean), series, radius: 3.2, tip });
            }
            marks.push(Mark::Line { points, series, tip: arm.to_string() });
        }
        let guide = (0..5).map(|place| (f64::from(place), 0.02 + 0.005 * f64::from(place))).collect();
        marks.push(Mark::Guide { points: guide, name: "all edges".into() });
        let title = if panel == 2 { "PubMed with a title that is too long for one line of a panel" } else { dataset };
        ChartPanel {
            title: title.into(),
            note: String::new(),
            x: named("rounds of interventions R", ["1", "2", "5", "10", "20"]),
            y: axis("change of test accuracy against the baseline with the same seed, mean over settings"),
            marks,
        }
    });
    Chart {
        title: "Accuracy against rounds".into(),
        caption: "Strokes are 95% bootstrap intervals.".into(),
        series: ARMS.map(String::from).to_vec(),
        panels: panels.collect(),
    }
}

fn alone() -> Chart {
    let dots = (0..33).map(|place| {
        let homophily = place as f64 / 32.0;
        let at = (homophily, 8.0 * (1.0 - homophily) * noise(place));
        Mark::Dot { at, series: 0, radius: 3.5, tip: format!("homophily {homophily:.2}: -log10 p {:.2}", at.1) }
    });
    Chart {
        title: "How sure it is that CAR helps, against homophily".into(),
        caption: "A dot is a synthetic graph.".into(),
        series: vec!["CAR against baseline".into()],
        panels: vec![ChartPanel {
            title: "synthetic Cora".into(),
            note: "rank correlation -0.61".into(),
            x: Axis { range: Some((0.0, 0.9)), ..axis("homophily") },
            y: axis("-log10 p"),
            marks: std::iter::once(Mark::Level(-0.05f64.log10(), "p = 0.05".into())).chain(dots).collect(),
        }],
    }
}

fn long_table() -> Table {
    let row = |place: usize| {
        let value = 1e-6 * 10f64.powf(6.0 * noise(place));
        vec![Cell::text(format!("graph {place}")), Cell::number(format!("{value:.6}"), value)]
    };
    let columns = vec![Column::text("graph"), Column::numbers("p")];
    Table { name: "graphs".into(), caption: "Every graph".into(), columns, rows: (0..60).map(row).collect() }
}

fn crowd() -> Chart {
    let names: Vec<String> = (0..22).map(|place| format!("setting {place} of a grid")).collect();
    let mut marks = Vec::new();
    for (category, name) in names.iter().enumerate() {
        for series in 0..8 {
            let value = 1e-6 * 10f64.powf(6.0 * noise(10 * category + series));
            let tip = format!("{name}, series {series}: {value:.2e}");
            marks.push(Mark::Bar { at: (category as f64, value), series, tip });
        }
    }
    Chart {
        title: "All eight colours, on an axis of powers of ten".into(),
        caption: "More bars than a narrow panel holds: this one is wide, and scrolls on a phone.".into(),
        series: (0..8).map(|series| format!("series {series}")).collect(),
        panels: vec![ChartPanel {
            title: "p values".into(),
            note: String::new(),
            x: named("", names.iter().map(String::as_str)),
            y: Axis { logarithmic: true, ..axis("p") },
            marks,
        }],
    }
}

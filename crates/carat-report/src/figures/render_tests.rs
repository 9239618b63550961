//! Charts of every kind of mark, good and bad values.

use super::*;
use crate::figures::{Axis, ChartPanel};

fn panel(x: Axis, y: Axis, marks: Vec<Mark>) -> ChartPanel {
    ChartPanel { title: "Cora".into(), note: "p 0.01".into(), x, y, marks }
}

fn chart(panels: Vec<ChartPanel>) -> Chart {
    let series = ["baseline", "CAR"].map(String::from).to_vec();
    Chart { title: "Loss".into(), caption: "How to read it.".into(), series, panels }
}

fn dot(at: (f64, f64), tip: &str) -> Mark {
    Mark::Dot { at, series: 0, radius: 3.0, tip: tip.into() }
}

fn named(names: &[&str]) -> Axis {
    Axis::of_categories(names.iter().map(|name| name.to_string()).collect())
}

fn powers() -> Axis {
    Axis { logarithmic: true, ..Axis::default() }
}

/// Values of an attribute, in the order of the text.
fn attribute(svg: &str, name: &str) -> Vec<f64> {
    svg.split(&format!(" {name}=\"")).skip(1).map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn nan_and_infinity_are_not_drawn() {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 0.0, -1.0, 1e-320];
    for (x, y) in [(Axis::default(), Axis::default()), (powers(), powers()), (named(&["a"]), powers())] {
        for &value in &bad {
            let tip = || "tip".to_string();
            let marks = vec![
                dot((1.0, value), "tip"),
                dot((value, 1.0), "tip"),
                Mark::Dot { at: (1.0, 1.0), series: usize::MAX, radius: value, tip: tip() },
                Mark::Bar { at: (0.0, value), series: 0, tip: tip() },
                Mark::Line { points: vec![(0.0, 1.0), (value, value), (1.0, 2.0)], series: 1, tip: tip() },
                Mark::Guide { points: vec![(value, 1.0)], name: "guide".into() },
                Mark::Box { at: 0.0, values: [value; 5], series: 1, tip: tip() },
                Mark::Interval { at: value, range: (value, 1.0), series: 1, tip: tip() },
                Mark::Interval { at: 0.0, range: (0.5, value), series: 1, tip: tip() },
                Mark::Diagonal,
                Mark::Level(value, "level".into()),
            ];
            let asked = Axis { range: Some((value, 1.0)), ..y.clone() };
            let chart = chart(vec![panel(x.clone(), y.clone(), marks.clone()), panel(x.clone(), asked, marks)]);
            for text in [chart.html(), chart.svg()] {
                assert!(!text.contains("NaN") && !text.contains("inf"), "{value}: {text}");
            }
        }
    }
}

#[test]
fn marks_outside_an_axis_of_powers_are_counted() {
    let marks = vec![dot((0.1, 1.0), "a"), dot((0.0, 1.0), "zero"), dot((-2.0, 1.0), "below"), dot((10.0, 2.0), "b")];
    let html = chart(vec![panel(powers(), Axis::default(), marks.clone())]).html();
    assert_eq!(html.matches("<circle").count(), 2);
    assert!(html.contains("2 not drawn") && !html.contains("zero") && !html.contains("below"), "{html}");
    let axis = Axis { range: Some((1.0, 100.0)), ..powers() };
    let html = chart(vec![panel(axis, Axis::default(), marks)]).html();
    assert_eq!(html.matches("<circle").count(), 1);
    assert!(html.contains("3 not drawn"));
}

#[test]
fn a_line_breaks_where_it_leaves_the_axes() {
    let points = vec![(0.0, 0.0), (1.0, 1.0), (2.0, 9.0), (3.0, 1.0), (4.0, f64::NAN), (5.0, 0.0)];
    let axis = Axis { range: Some((0.0, 1.0)), ..Axis::default() };
    let html =
        chart(vec![panel(Axis::default(), axis, vec![Mark::Line { points, series: 0, tip: "t".into() }])]).html();
    assert_eq!(html.matches("<polyline").count(), 2);
    assert!(html.contains("2 not drawn"));
}

#[test]
fn bars_and_intervals_of_series_are_side_by_side() {
    let mut marks = Vec::new();
    for series in [0, 1] {
        for category in [0.0, 1.0] {
            marks.push(Mark::Bar { at: (category, 1.0 + series as f64), series, tip: "bar".into() });
            marks.push(Mark::Interval { at: category, range: (0.5, 1.5), series, tip: String::new() });
        }
    }
    let html = chart(vec![panel(named(&["a", "b"]), Axis::default(), marks)]).html();
    let (starts, widths) = (attribute(&html, "x"), attribute(&html, "width"));
    assert_eq!(widths.len(), 4);
    let rects: Vec<f64> = html.split("<rect").skip(1).map(|rest| attribute(rest, "x")[0]).collect();
    let mut ordered = rects.clone();
    ordered.sort_by(f64::total_cmp);
    assert!(ordered.windows(2).all(|pair| pair[1] - pair[0] >= widths[0]), "{rects:?} {widths:?} {starts:?}");
    // An interval's stroke goes through the middle of its bar.
    let strokes: Vec<f64> = html.split("<g class=\"interval").skip(1).map(|rest| attribute(rest, "x1")[0]).collect();
    for (rect, stroke) in rects.iter().zip(&strokes) {
        assert!((rect + widths[0] / 2.0 - stroke).abs() < 0.2, "{rects:?} {strokes:?}");
    }
}

#[test]
fn long_names_are_shortened_and_slanted() {
    let names: Vec<String> = (0..9).map(|place| format!("a dataset with a very long name {place}")).collect();
    let axis = Axis::of_categories(names.clone());
    let marks = (0..9).map(|place| dot((f64::from(place), 1.0), "t")).collect();
    let html = chart(vec![panel(axis, Axis::default(), marks)]).html();
    assert_eq!(html.matches("rotate(-40").count(), 9);
    assert!(names.iter().all(|name| html.contains(&format!("<title>{name}</title>"))));
    let svg = html.split("viewBox=\"0 0 340 ").nth(1).unwrap();
    let height: f64 = svg.split('"').next().unwrap().parse().unwrap();
    assert!(attribute(svg, "y").iter().all(|y| *y < height), "{svg}");
}

#[test]
fn files_are_self_contained_and_escape_hostile_text() {
    let hostile = "</script><img onerror=alert(1)>\u{1b}\u{ffff}";
    let text = || hostile.to_string();
    let axis = || Axis { label: text(), categories: vec![text()], ..Axis::default() };
    let marks = vec![
        dot((0.0, 0.0), hostile),
        Mark::Guide { points: vec![(0.0, 0.0)], name: text() },
        Mark::Level(0.0, text()),
    ];
    let panels = vec![ChartPanel { title: text(), note: text(), x: axis(), y: axis(), marks }];
    let chart = Chart { title: text(), caption: text(), series: vec![text()], panels };
    for picture in [chart.html(), chart.svg()] {
        assert!(!picture.contains("<img") && !picture.contains("</script"), "{picture}");
        assert!(!picture.contains('\u{1b}') && !picture.contains('\u{ffff}'));
    }
    let svg = chart.svg();
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" ") && svg.contains("--series-0"));
    for element in ["svg", "g", "text", "title", "circle", "style"] {
        let opened = svg.matches(&format!("<{element} ")).count() + svg.matches(&format!("<{element}>")).count();
        assert_eq!(opened, svg.matches(&format!("</{element}>")).count(), "{element}");
    }
}

#[test]
fn an_empty_chart_is_a_figure() {
    let empty = Chart { title: String::new(), caption: String::new(), series: Vec::new(), panels: Vec::new() };
    assert!(empty.html().starts_with("<figure>") && empty.svg().ends_with("</svg>\n"));
    let blank = chart(vec![panel(Axis::default(), Axis::default(), Vec::new())]);
    assert!(blank.html().contains("0 marks") && !blank.html().contains("NaN"));
}

#[test]
fn tiny_bars_are_drawn() {
    let bar = |at: (f64, f64)| Mark::Bar { at, series: 0, tip: format!("bar {}", at.1) };
    let panel = ChartPanel {
        title: "t".into(),
        note: String::new(),
        x: Axis::of_categories(vec!["a".into(), "b".into(), "c".into()]),
        y: Axis::default(),
        marks: vec![bar((0.0, 20.0)), bar((1.0, 1e-4)), bar((2.0, 0.0))],
    };
    let chart = Chart { title: "c".into(), caption: String::new(), series: vec!["s".into()], panels: vec![panel] };
    let html = chart.html();
    assert!(!html.contains("not drawn"), "{html}");
    assert_eq!(html.matches("<title>bar ").count(), 3);
}

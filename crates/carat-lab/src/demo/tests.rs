//! The demo on graphs of a few hundred nodes.

use super::*;

fn small() -> DemoConfig {
    let train = TrainConfig { hidden: 8, heads: 2, epochs: 30, ..DemoConfig::default().train };
    let planted = PlantedConfig { nodes: 300, ..PlantedConfig::default() };
    DemoConfig { planted, train, seeds: 2, ..DemoConfig::default() }
}

#[test]
fn the_oracle_graph_has_the_useful_edges_only() {
    let graphs = Graphs::draw(&small(), 3).unwrap();
    let truth = graphs.planted.spurious().unwrap();
    let useful: Vec<(u32, u32)> =
        graphs.planted.graph().edges().zip(truth).filter(|(_, spurious)| !**spurious).map(|(edge, _)| edge).collect();
    assert!(useful.len() < truth.len());
    assert_eq!(graphs.useful_only.graph().edges().collect::<Vec<_>>(), useful);
    assert_eq!(graphs.useful_only.splits(), graphs.planted.splits());
    assert_eq!(graphs.useful_only.spurious(), None);
}

#[test]
fn the_report_is_complete_and_the_same_for_any_number_of_threads() {
    let config = small();
    let told = std::sync::Mutex::new(Vec::new());
    let report =
        carat::with_threads(Some(1), || run(&config, &|done| told.lock().unwrap().push(done))).unwrap().unwrap();
    assert_eq!(told.into_inner().unwrap(), (1..=config.runs()).collect::<Vec<_>>());
    assert_eq!(config.runs(), 12);
    assert_eq!(report, carat::with_threads(Some(3), || run(&config, &|_| {})).unwrap().unwrap());

    let arms: Vec<_> = report.arms.iter().map(|arm| (arm.arch, arm.treatment)).collect();
    let expected = AttentionKind::ALL.iter().flat_map(|&kind| Treatment::ALL.map(|t| (kind, t)));
    assert_eq!(arms, expected.collect::<Vec<_>>());
    for arm in &report.arms {
        assert_eq!(arm.runs.iter().map(|run| run.seed).collect::<Vec<_>>(), [0, 1]);
        let mean = arm.runs.iter().map(|run| run.test_accuracy).sum::<f64>() / 2.0;
        assert!((arm.test_accuracy.mean - mean).abs() < 1e-12);
        assert!(arm.test_accuracy.deviation.is_some());
        let measured = arm.treatment == Treatment::Baseline;
        assert_eq!([arm.spurious_attention, arm.uniform_attention].map(|a| a.is_some()), [measured; 2]);
        assert_eq!(arm.histogram.is_some(), measured);
        for run in &arm.runs {
            assert!(run.best_epoch >= 1 && run.best_epoch <= run.curve.len());
            let lowest = run.curve.iter().map(|point| point.val_loss).fold(f64::INFINITY, f64::min);
            assert_eq!(run.curve[run.best_epoch - 1].val_loss, lowest);
        }
    }
    // What uniform attention does depends on the graph alone.
    let uniform: Vec<_> = report.arms.iter().filter_map(|arm| arm.uniform_attention).collect();
    assert!(uniform.len() == 3 && uniform.iter().all(|u| *u == uniform[0]));

    assert_eq!(report.comparisons.len(), 3);
    for comparison in &report.comparisons {
        let mean = |t| report.arms_of(comparison.arch).find(|arm| arm.treatment == t).unwrap().test_accuracy.mean;
        let gain = mean(Treatment::Oracle) - mean(Treatment::Baseline);
        assert!((comparison.accuracy_gain.mean - gain).abs() < 1e-12);
    }
}

#[test]
fn one_seed_makes_a_page_too() {
    let train = TrainConfig { epochs: 3, ..small().train };
    let report = run(&DemoConfig { seeds: 1, train, kinds: vec![AttentionKind::Gat], ..small() }, &|_| {}).unwrap();
    let page = page(&report);
    assert_eq!(page.matches("<figure>").count(), 3);
    assert!(!page.contains("NaN") && !page.contains("inf,"));
}

#[test]
fn settings_without_meaning_are_named() {
    let seeds = DemoConfig { seeds: 0, ..small() }.check().unwrap_err().to_string();
    assert_eq!(seeds, "seeds must be between 1 and 1000, and 0 is not");
    assert!(DemoConfig { kinds: Vec::new(), ..small() }.check().is_err());
    let planted = PlantedConfig { nodes: 3, ..PlantedConfig::default() };
    assert!(run(&DemoConfig { planted, ..small() }, &|_| {}).unwrap_err().is_input_error());
}

//! The demo on graphs of a few hundred nodes.

use super::*;

fn small() -> DemoConfig {
    let train = DemoConfig::default().train.hidden(8).epochs(30);
    let planted = PlantedConfig { nodes: 300, ..PlantedConfig::default() };
    DemoConfig { planted, train, shortcuts: vec![0.3, 0.8], seeds: 2, ..DemoConfig::default() }
}

#[test]
fn the_oracle_graph_has_the_useful_edges_only() {
    let (oracle, planted) = (small().graph(None, 3).unwrap(), small().graph(Some(0.3), 3).unwrap());
    let truth = planted.spurious().unwrap();
    let useful: Vec<(u32, u32)> =
        planted.graph().edges().zip(truth.iter()).filter(|(_, spurious)| !*spurious).map(|(edge, _)| edge).collect();
    assert!(useful.len() < truth.len());
    assert!(oracle.graph().edges().eq(useful));
    assert_eq!((oracle.splits(), oracle.features()), (planted.splits(), planted.features()));
    assert_eq!(oracle.spurious(), None);
}

#[test]
fn the_report_is_complete_and_the_same_for_any_number_of_threads() {
    let config = small();
    let told = std::sync::Mutex::new(Vec::new());
    let report =
        carat::with_threads(Some(1), || run(&config, &|done| told.lock().unwrap().push(done))).unwrap().unwrap();
    assert_eq!(told.into_inner().unwrap(), (1..=config.runs()).collect::<Vec<_>>());
    assert_eq!(config.runs(), (2 * 3 * 3 + 3) * 2);
    assert_eq!(report, carat::with_threads(Some(3), || run(&config, &|_| {})).unwrap().unwrap());

    let arms: Vec<_> = report.arms.iter().map(|arm| (arm.shortcut, arm.arch, arm.treatment)).collect();
    let expected: Vec<_> = config.settings().into_iter().map(|s| (s.shortcut, s.kind, s.treatment)).collect();
    assert_eq!(arms, expected);
    for arm in &report.arms {
        assert_eq!(arm.runs.iter().map(|run| run.config.seed).collect::<Vec<_>>(), [0, 1]);
        let mean = arm.runs.iter().map(|run| run.outcome.figures.test.accuracy.unwrap()).sum::<f64>() / 2.0;
        assert!((arm.test_accuracy.mean - mean).abs() < 1e-12);
        assert!(arm.test_accuracy.deviation.is_some() && arm.faithfulness.is_some());
        let spurious = arm.treatment != Treatment::Oracle;
        assert_eq!([arm.spurious_attention, arm.uniform_attention].map(|a| a.is_some()), [spurious; 2]);
        assert_eq!(arm.shortcut.is_some(), spurious);
        assert!(arm.runs.iter().all(|run| run.outcome.kept_epoch >= 1 && run.outcome.kept_epoch <= run.outcome.epochs));
    }
    // Uniform attention depends only on the graph.
    for &shortcut in &config.shortcuts {
        let uniform: Vec<_> =
            report.arms.iter().filter(|arm| arm.shortcut == Some(shortcut)).map(|arm| arm.uniform_attention).collect();
        assert!(uniform.len() == 9 && uniform.iter().all(|u| *u == uniform[0]));
    }

    assert_eq!(report.comparisons.len(), 2 * (3 + 1) * 2 * 4);
    for comparison in &report.comparisons {
        let mean = |treatment| {
            let Some(kind) = comparison.arch else {
                return report.mean(Some(comparison.shortcut), treatment, comparison.measure).unwrap();
            };
            let arm = report.arm(Some(comparison.shortcut), kind, treatment).unwrap();
            arm.spread(comparison.measure).unwrap().mean
        };
        let change = mean(comparison.treatment) - mean(comparison.against);
        assert!((comparison.change.mean - change).abs() < 1e-12);
    }
}

#[test]
fn a_negligible_regulariser_gives_the_baseline() {
    let train = small().train.lambda(Lambda::new(1e-30)).epochs(5);
    let config = DemoConfig { train, every_node: true, seeds: 1, shortcuts: vec![0.4], ..small() };
    let report = run(&config, &|_| {}).unwrap();
    assert_eq!(report.arms.len(), 3 * 6);
    for kind in &config.kinds {
        let runs = |treatment| {
            let runs = report.arm(Some(0.4), *kind, treatment).unwrap().runs.iter();
            runs.map(|run| run.outcome).collect::<Vec<_>>()
        };
        assert_eq!(runs(Treatment::Control), runs(Treatment::Baseline), "{kind}");
        // Deletions and larger batches of targets take sums in another order, which changes the last bits.
        for treatment in [Treatment::Car, Treatment::EveryNodeControl, Treatment::EveryNode] {
            let difference =
                runs(treatment)[0].figures.test.loss.unwrap() - runs(Treatment::Baseline)[0].figures.test.loss.unwrap();
            assert!(difference.abs() < 1e-6, "{kind} {}: {difference}", treatment.label());
        }
    }
}

#[test]
fn treatments_differ_in_the_regulariser_alone() {
    let train = small().train;
    let of = |treatment: Treatment| treatment.settings(&train);
    assert_eq!(of(Treatment::Car), train);
    assert!(of(Treatment::Baseline).regulariser.lambda.is_zero() && of(Treatment::Oracle) == of(Treatment::Baseline));
    assert_eq!(of(Treatment::Control), train.clone().arm(carat::Arm::Constant));
    let every_node = of(Treatment::EveryNode);
    assert_eq!(
        (every_node.regulariser.entities, every_node.regulariser.target),
        (carat::EntityChoice::All, carat::Target::Distribution)
    );
    assert_eq!(of(Treatment::EveryNodeControl), every_node.arm(carat::Arm::Constant));
}

#[test]
fn one_seed_one_kind_and_one_strength_make_a_page() {
    let train = small().train.epochs(3);
    let config = DemoConfig { seeds: 1, train, kinds: vec![AttentionKind::Gat], shortcuts: vec![0.4], ..small() };
    let page = page(&run(&config, &|_| {}).unwrap());
    assert_eq!(page.matches("<figure>").count(), 4);
    assert!(!page.contains("NaN") && !page.contains("inf,"));
}

#[test]
fn seeds_start_where_asked() {
    let train = small().train.epochs(2);
    let kinds = vec![AttentionKind::Gat];
    let config = DemoConfig { first_seed: u64::MAX, train, kinds, shortcuts: vec![0.4], ..small() };
    let report = run(&config, &|_| {}).unwrap();
    assert_eq!(report.arms[0].runs.iter().map(|run| run.config.seed).collect::<Vec<_>>(), [u64::MAX, 0]);
}

#[test]
fn invalid_settings_are_named() {
    let problem = |config: DemoConfig| config.check().unwrap_err().to_string();
    assert_eq!(problem(DemoConfig { seeds: 0, ..small() }), "seeds must be between 1 and 1000, and 0 is not");
    assert_eq!(problem(DemoConfig { kinds: Vec::new(), ..small() }), "kinds is empty; name at least one");
    assert_eq!(problem(DemoConfig { shortcuts: Vec::new(), ..small() }), "shortcuts is empty; name at least one");
    assert!(problem(DemoConfig { shortcuts: vec![0.4, 1.5], ..small() }).contains("shortcut"));
    let train = small().train.lambda(Lambda::new(0.0));
    assert!(problem(DemoConfig { train, ..small() }).contains("lambda must be above 0"));
    let planted = PlantedConfig { nodes: 3, ..PlantedConfig::default() };
    assert!(run(&DemoConfig { planted, ..small() }, &|_| {}).unwrap_err().is_input_error());
}

//! Describes the two runs, and the settings that differ between them.

use carat::metrics::Metric;
use carat::settings::NetworkSettings;
use carat::{RegulariserSettings, Setting, Summary, TrainConfig};

use crate::format;

/// Sentences about the compared runs, with every difference besides the regulariser.
pub fn compared_runs(base: &TrainConfig, car: &TrainConfig) -> Vec<String> {
    let mut sentences = vec![format!("Base: {}. CAR: {}.", described(base), described(car))];
    let others = differences(base, car);
    if !others.is_empty() {
        let settings = format::list(&others);
        sentences.push(format!("The runs also differ in {settings}, so the changes are not the regulariser's alone."));
    }
    match (base.car().is_some(), car.car().is_some()) {
        (false, true) => {}
        (true, false) => sentences.push(
            "The base run is regularised and the other is not: is it the other way round? --base is the run without \
             CAR."
                .into(),
        ),
        (true, true) => sentences.push("Both runs are regularised.".into()),
        (false, false) => sentences.push("Neither run is regularised.".into()),
    }
    sentences
}

/// Which of two runs predicts the test better, by what both measured at their end; `None` where one has no figures.
pub fn better_run(base: &Summary, car: &Summary) -> Option<String> {
    let figures = [Some(base.lead.first()[0]), Some(Metric::Loss)].into_iter().flatten();
    let compared: Vec<(Metric, f64, f64)> = figures
        .filter_map(|metric| Some((metric, base.figures.test.get(metric)?, car.figures.test.get(metric)?)))
        .collect();
    let said = |&(metric, base, car): &(Metric, f64, f64)| format!("{} {car:.3} against {base:.3}", metric.title());
    let wins = |&(metric, base, car): &(Metric, f64, f64)| match car == base {
        true => None,
        false => Some((car < base) == metric.lower_is_better()),
    };
    let verdicts: Vec<bool> = compared.iter().filter_map(wins).collect();
    let who = match (verdicts.contains(&true), verdicts.contains(&false)) {
        (true, false) => "The CAR run predicts the test better",
        (false, true) => "The base run predicts the test better",
        (true, true) => "Neither run predicts the test better in every respect",
        (false, false) => "Both runs predict the test equally well",
    };
    let said: Vec<String> = compared.iter().map(said).collect();
    (!said.is_empty()).then(|| format!("{who}: CAR has {}.", format::list(&said)))
}

fn described(config: &TrainConfig) -> String {
    let NetworkSettings { arch, hidden, heads, layers } = config.network;
    let RegulariserSettings { arm, lambda, .. } = &config.regulariser;
    let seed = config.seed;
    let how = match config.car() {
        Some(_) => format!("{arm}, lambda {lambda}"),
        None => "no regulariser".into(),
    };
    format!("{arch}, L {layers}, K {heads}, F {hidden}, seed {seed}, {how}")
}

/// Names of other settings than the regulariser's in which two runs differ.
fn differences(base: &TrainConfig, car: &TrainConfig) -> Vec<String> {
    let others = Setting::all().filter(|setting| !setting.is_of_regulariser && !setting.is_same(base, car));
    others.map(|setting| setting.name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat::Lambda;

    #[test]
    fn other_differences_are_named() {
        let plain = TrainConfig::default().data("cora".into());
        let car = plain.clone().lambda(Lambda::new(0.5)).temperature(0.3);
        let sentences = compared_runs(&plain, &car);
        let expected = "Base: gat, L 2, K 3, F 100, seed 0, no regulariser. CAR: gat, L 2, K 3, F 100, seed 0, causal, \
            lambda 0.5.";
        assert_eq!(sentences, [expected]);
        let other = car.clone().seed(3).patience(Some(5));
        assert!(compared_runs(&plain, &other)[1].starts_with("The runs also differ in patience and seed, so"));
        assert!(compared_runs(&car, &plain)[1].contains("is it the other way round?"));
        assert_eq!(compared_runs(&plain, &plain)[1], "Neither run is regularised.");
        assert_eq!(compared_runs(&car, &car)[1], "Both runs are regularised.");
    }
}

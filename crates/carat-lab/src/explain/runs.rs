//! The two runs in words, and what else they differ in.

use carat::TrainConfig;
use serde_json::Value;

use crate::compare::words;

/// Settings of the regulariser; runs that are compared may differ in these.
const REGULARISER: [&str; 12] = [
    "lambda",
    "regulariser",
    "rounds",
    "interventions",
    "temperature",
    "exponent",
    "loss-floor",
    "entities",
    "target",
    "clamp",
    "warm-up",
    "teacher",
];

/// Sentences about the runs that are compared, and about what a reader must know before crediting the regulariser.
pub fn compared_runs(base: &TrainConfig, car: &TrainConfig) -> Vec<String> {
    let mut sentences = vec![format!("Base: {}. CAR: {}.", described(base), described(car))];
    let others = differences(base, car);
    if !others.is_empty() {
        let settings = words::list(&others);
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

fn described(config: &TrainConfig) -> String {
    let TrainConfig { arch, layers, heads, hidden, seed, lambda, regulariser, .. } = config;
    let how = match config.car() {
        Some(_) => format!("{regulariser}, lambda {lambda}"),
        None => "no regulariser".into(),
    };
    format!("{arch}, L {layers}, K {heads}, F {hidden}, seed {seed}, {how}")
}

/// Names of other settings than the regulariser's in which two runs differ.
fn differences(base: &TrainConfig, car: &TrainConfig) -> Vec<String> {
    let values = |config: &TrainConfig| serde_json::to_value(config).unwrap_or_default();
    let (base, car) = (values(base), values(car));
    let names =
        |config: &Value| config.as_object().map(|all| all.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let mut all = names(&base);
    all.extend(names(&car));
    all.sort_unstable();
    all.dedup();
    all.retain(|name| !REGULARISER.contains(&name.as_str()) && base.get(name) != car.get(name));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat::Lambda;

    #[test]
    fn what_else_differs_is_said() {
        let plain = TrainConfig { data: "cora".into(), ..TrainConfig::default() };
        let car = TrainConfig { lambda: Lambda::new(0.5), temperature: 0.3, ..plain.clone() };
        let said = compared_runs(&plain, &car);
        let expected = "Base: gat, L 2, K 3, F 100, seed 0, no regulariser. CAR: gat, L 2, K 3, F 100, seed 0, causal, \
            lambda 0.5.";
        assert_eq!(said, [expected]);
        let other = TrainConfig { seed: 3, patience: Some(5), ..car.clone() };
        assert!(compared_runs(&plain, &other)[1].starts_with("The runs also differ in patience and seed, so"));
        assert!(compared_runs(&car, &plain)[1].contains("is it the other way round?"));
        assert_eq!(compared_runs(&plain, &plain)[1], "Neither run is regularised.");
        assert_eq!(compared_runs(&car, &car)[1], "Both runs are regularised.");
    }

    #[test]
    fn every_setting_of_the_regulariser_is_one_of_a_run() {
        let all = serde_json::to_value(TrainConfig::default()).unwrap();
        assert!(REGULARISER.iter().all(|name| all.get(*name).is_some()));
    }
}

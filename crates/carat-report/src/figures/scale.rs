//! Maps values to positions, and chooses ticks.

/// Larger values are drawn at this value, so that distances between values stay finite.
const LARGEST: f64 = 1e300;

/// A map from values to coordinates, linear or by powers of ten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// The ends of the range: values, or their logarithms.
    low: f64,
    high: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

impl Scale {
    /// Maps `low` to `start` and `high` to `end`. An empty or impossible range of values is widened to a valid one.
    pub(super) fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let (low, high) = valid_range(low, high);
        Self { low, high, start, end, logarithmic: false }
    }

    /// A scale with powers of ten at equal distances.
    pub(super) fn logarithmic((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let (low, high) = valid_range(low.log10(), high.log10());
        Self { low, high, start, end, logarithmic: true }
    }

    /// True where equal distances are equal ratios.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Lowest and highest value.
    pub(super) fn range(&self) -> (f64, f64) {
        if self.logarithmic { (10f64.powf(self.low), 10f64.powf(self.high)) } else { (self.low, self.high) }
    }

    /// True where a value lies within the range.
    pub(super) fn contains(&self, value: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low);
        let transformed = self.transformed(value);
        transformed.is_finite() && transformed >= self.low - slack && transformed <= self.high + slack
    }

    /// The coordinate of a value. Values outside the range are placed at its ends, NaN at its start.
    pub(super) fn position(&self, value: f64) -> f64 {
        let share = (self.transformed(value) - self.low) / (self.high - self.low);
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.start + share * (self.end - self.start)
    }

    /// About `count` round values within the range, with their texts.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let count = count.max(1);
        let values = if self.logarithmic { self.powers(count) } else { steps(self.range(), count) };
        let texts = texts(&values);
        values.into_iter().zip(texts).collect()
    }

    fn transformed(&self, value: f64) -> f64 {
        match self.logarithmic {
            true if value > 0.0 => value.log10(),
            true => f64::NEG_INFINITY,
            false => value,
        }
    }

    /// Powers of ten. If few lie in the range, 2 and 5 times these powers too; if that is still few, even steps.
    fn powers(&self, count: usize) -> Vec<f64> {
        let (first, last) = ((self.low - 1e-9).ceil() as i64, (self.high + 1e-9).floor() as i64);
        let stride = (last - first + 1).max(1).div_euclid(count as i64 + 1) + 1;
        let powers: Vec<f64> =
            (first..=last).filter(|power| power % stride == 0).map(|power| 10f64.powf(power as f64)).collect();
        if powers.len() > 2 {
            return powers;
        }
        let fractions = (first - 1..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|f| f * 10f64.powf(power as f64)));
        let fractions: Vec<f64> = fractions.filter(|value| self.contains(*value)).collect();
        match (powers.len(), fractions.len()) {
            (_, found) if (2..=count + 1).contains(&found) => fractions,
            (2, _) => powers,
            _ => steps(self.range(), count),
        }
    }
}

/// Both ends as finite numbers, the first clearly below the second.
fn valid_range(low: f64, high: f64) -> (f64, f64) {
    if !low.is_finite() || !high.is_finite() {
        return (0.0, 1.0);
    }
    let (low, high) = (low.min(high).max(-LARGEST), high.max(low).min(LARGEST));
    let size = low.abs().max(high.abs());
    let apart = if size == 0.0 { 0.5 } else { 0.1 * size };
    if high - low > 1e-9 * size { (low, high) } else { (low - apart, high + apart) }
}

/// Multiples of a round step. If there are fewer than two, the step is chosen for twice as many, because a single tick
/// shows no distance.
fn steps(range: (f64, f64), count: usize) -> Vec<f64> {
    let few = multiples(range, count);
    if few.len() < 2 { multiples(range, 2 * count) } else { few }
}

fn multiples((low, high): (f64, f64), count: usize) -> Vec<f64> {
    let step = nice_step((high - low) / count as f64);
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    // Adding 0 turns -0 into 0.
    (0..=count * 4).map(|k| first + k as f64).take_while(|k| *k <= last).map(|k| k * step + 0.0).collect()
}

/// The smallest of 1, 2, 5, 10 times a power of ten that is at least `least`.
fn nice_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Texts of ticks in one form: decimals, or a factor of a power of ten where decimals would be long.
fn texts(values: &[f64]) -> Vec<String> {
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let decimals = values.iter().map(|value| decimals(*value, largest)).max().unwrap_or(0);
    let short = largest < 1e6 && decimals <= 5;
    // On an axis of powers of ten, each value has its own number of decimals.
    let gaps = values.windows(2).map(|pair| pair[1] - pair[0]);
    let even = gaps.clone().fold(0.0, f64::max) <= 1.01 * gaps.fold(f64::INFINITY, f64::min);
    let text = |value: &f64| match (short, even) {
        (true, true) => format!("{value:.decimals$}"),
        (true, false) => format!("{value:.0$}", self::decimals(*value, *value)),
        (false, _) => scientific(*value),
    };
    values.iter().map(text).collect()
}

/// The number of decimals that a round value needs, relative to the largest value.
fn decimals(value: f64, largest: f64) -> usize {
    let exact = |places: &usize| {
        let factor = 10f64.powi(*places as i32);
        ((value * factor).round() / factor - value).abs() <= 1e-9 * largest.abs()
    };
    (0..=12).find(exact).unwrap_or(12)
}

/// A power of ten, with a factor unless it is 1.
fn scientific(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let text = format!("{value:.3e}");
    let (factor, power) = text.split_once('e').unwrap_or((&text, "0"));
    let factor = if factor.contains('.') { factor.trim_end_matches('0').trim_end_matches('.') } else { factor };
    let raised = |c: char| match c {
        '-' => '⁻',
        digit => digit.to_digit(10).and_then(|place| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(place as usize)).unwrap_or(digit),
    };
    let power: String = power.chars().map(raised).collect();
    match factor {
        "1" => format!("10{power}"),
        "-1" => format!("-10{power}"),
        _ => format!("{factor}×10{power}"),
    }
}

/// Smallest and largest finite value, with `margin` times their distance added on both sides.
pub fn extent(values: impl Iterator<Item = f64>, margin: f64) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    (low - margin * (high - low), high + margin * (high - low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64, count: usize) -> Vec<String> {
        Scale::new((low, high), (0.0, 100.0)).ticks(count).into_iter().map(|(_, text)| text).collect()
    }

    fn powers(low: f64, high: f64, count: usize) -> Vec<String> {
        Scale::logarithmic((low, high), (0.0, 100.0)).ticks(count).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(texts(0.0, 1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(0.713, 0.941, 4), ["0.8", "0.9"]);
        assert_eq!(texts(0.713, 0.941, 5), ["0.75", "0.80", "0.85", "0.90"]);
        assert_eq!(texts(1.0, 97.0, 4), ["20", "40", "60", "80"]);
        assert_eq!(texts(-30.0, 30.0, 3), ["-20", "0", "20"]);
        assert_eq!(texts(0.0, 4e6, 4), ["0", "10⁶", "2×10⁶", "3×10⁶", "4×10⁶"]);
        assert_eq!(texts(0.0, 2.5e-7, 3), ["0", "10⁻⁷", "2×10⁻⁷"]);
    }

    #[test]
    fn ticks_on_an_axis_of_powers() {
        assert_eq!(powers(0.001, 1000.0, 8), ["0.001", "0.01", "0.1", "1", "10", "100", "1000"]);
        assert_eq!(powers(0.002, 900.0, 5), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(powers(1e-9, 1.0, 5), ["10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]);
        assert_eq!(powers(0.8, 12.0, 5), ["1", "2", "5", "10"]);
        assert_eq!(powers(0.04, 0.6, 5), ["0.05", "0.1", "0.2", "0.5"]);
        assert_eq!(powers(2.2, 4.4, 4), ["3", "4"]);
        assert_eq!(powers(2.05, 2.95, 4), ["2.2", "2.4", "2.6", "2.8"]);
    }

    #[test]
    fn positions_are_linear_and_stay_inside() {
        let scale = Scale::new((10.0, 20.0), (200.0, 0.0));
        assert_eq!([10.0, 15.0, 20.0, 99.0, -5.0].map(|v| scale.position(v)), [200.0, 100.0, 0.0, 0.0, 200.0]);
        assert_eq!([10.0, 20.0, 20.1, 9.9, f64::NAN].map(|v| scale.contains(v)), [true, true, false, false, false]);
    }

    #[test]
    fn an_axis_of_powers_does_not_contain_zero() {
        let scale = Scale::logarithmic((0.1, 10.0), (0.0, 100.0));
        assert_eq!([0.1, 1.0, 10.0, 1e9].map(|v| scale.position(v)), [0.0, 50.0, 100.0, 100.0]);
        assert_eq!([0.0, -1.0, f64::NAN].map(|v| (scale.contains(v), scale.position(v))), [(false, 0.0); 3]);
        assert!(Scale::logarithmic((0.0, 1.0), (0.0, 1.0)).position(0.5).is_finite());
    }

    #[test]
    fn degenerate_ranges_have_a_scale() {
        let infinite = f64::INFINITY;
        for (low, high) in [
            (0.5, 0.5),
            (infinite, -infinite),
            (f64::NAN, 1.0),
            (3.0, 2.0),
            (-f64::MAX, f64::MAX),
            (1e12, 1e12),
            (0.0, 0.0),
        ] {
            for scale in [Scale::new((low, high), (0.0, 100.0)), Scale::logarithmic((low, high), (0.0, 100.0))] {
                assert!(scale.position(0.5).is_finite());
                let ticks = scale.ticks(4);
                assert!((1..=17).contains(&ticks.len()), "{low} {high}: {ticks:?}");
                assert!(ticks.windows(2).all(|pair| pair[0].1 != pair[1].1), "{low} {high}: {ticks:?}");
            }
        }
        assert_eq!(extent([0.5, f64::NAN, 0.7].into_iter(), 0.5), (0.4, 0.7 + 0.5 * (0.7 - 0.5)));
    }
}

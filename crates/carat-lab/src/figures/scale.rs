//! From values to places, and where the ticks go.

/// A linear map from values to coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Maps `low` to `start` and `high` to `end`. An empty or impossible range of values is widened to one that works.
    pub(super) fn new((low, high): (f64, f64), (start, end): (f64, f64)) -> Self {
        let (low, high) = match (low.is_finite(), high.is_finite()) {
            (true, true) if low < high => (low, high),
            (true, true) => (low - 0.5, low + 0.5),
            _ => (0.0, 1.0),
        };
        Self { low, high, start, end }
    }

    /// The coordinate of a value; values outside the range land on its ends.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        self.start + share * (self.end - self.start)
    }

    /// Round values within the range, about `count` of them, with their texts.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        let step = nice_step((self.high - self.low) / count.max(1) as f64);
        let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
        let (first, last) = ((self.low / step - 1e-9).ceil(), (self.high / step + 1e-9).floor());
        // Adding 0 turns -0 into 0.
        let values =
            (0..=count.max(1) * 4).map(|k| first + k as f64).take_while(|k| *k <= last).map(|k| k * step + 0.0);
        values.map(|value| (value, format!("{value:.decimals$}"))).collect()
    }
}

/// The smallest of 1, 2, 5, 10 times a power of ten that is at least `least`.
fn nice_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Smallest and largest finite value, with `margin` times their distance added on both sides.
pub(super) fn extent(values: impl Iterator<Item = f64>, margin: f64) -> (f64, f64) {
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

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(texts(0.0, 1.0, 5), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(0.713, 0.941, 4), ["0.8", "0.9"]);
        assert_eq!(texts(0.713, 0.941, 5), ["0.75", "0.80", "0.85", "0.90"]);
        assert_eq!(texts(1.0, 97.0, 4), ["50"]);
        assert_eq!(texts(-30.0, 30.0, 3), ["-20", "0", "20"]);
    }

    #[test]
    fn places_are_linear_and_stay_inside() {
        let scale = Scale::new((10.0, 20.0), (200.0, 0.0));
        assert_eq!([10.0, 15.0, 20.0, 99.0, -5.0].map(|v| scale.place(v)), [200.0, 100.0, 0.0, 0.0, 200.0]);
    }

    #[test]
    fn degenerate_ranges_still_have_a_scale() {
        for (low, high) in [(0.5, 0.5), (f64::INFINITY, f64::NEG_INFINITY), (f64::NAN, 1.0), (3.0, 2.0)] {
            let scale = Scale::new((low, high), (0.0, 100.0));
            assert!(scale.place(0.5).is_finite());
            let ticks = scale.ticks(4);
            assert!((1..=17).contains(&ticks.len()), "{low} {high}: {ticks:?}");
        }
        assert_eq!(extent([0.5, f64::NAN, 0.7].into_iter(), 0.5), (0.4, 0.7 + 0.5 * (0.7 - 0.5)));
    }
}

//! One comparison per dataset, corrected for how many there are.

use carat::Protocol;
use carat_report::format;
use carat_report::statistics::{SIGNIFICANT, holm};

use super::{Comparison, Measure, Pairing};

/// A dataset's comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct FamilyRow {
    /// The dataset.
    pub data: String,
    /// Its comparison; `None` where there is no pair of runs.
    pub comparison: Option<Comparison>,
    /// p of an improvement, adjusted by Holm's method over the family. `None` where the dataset is not counted.
    pub adjusted: Option<f64>,
}

/// The same comparison on several datasets under one protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// What is compared.
    pub measure: Measure,
    /// The protocol.
    pub protocol: Protocol,
    /// One row per dataset, in the order given.
    pub rows: Vec<FamilyRow>,
}

impl Family {
    /// Compares on every dataset. Datasets for which `counts` is false have a row, but are neither counted nor part of
    /// the correction.
    pub fn of(
        pairing: &Pairing<'_>,
        datasets: &[String],
        protocol: Protocol,
        measure: Measure,
        counts: impl Fn(&str) -> bool,
    ) -> Self {
        let compared: Vec<(&String, Option<Comparison>)> =
            datasets.iter().map(|data| (data, Comparison::of(&pairing.on(data, protocol), measure))).collect();
        let p =
            |(data, comparison): &(&String, Option<Comparison>)| comparison.as_ref()?.p_better.filter(|_| counts(data));
        let mut adjusted = holm(&compared.iter().filter_map(p).collect::<Vec<_>>()).into_iter();
        let rows = compared.iter().map(|row| FamilyRow {
            data: row.0.clone(),
            comparison: row.1.clone(),
            adjusted: p(row).and_then(|_| adjusted.next()),
        });
        Self { measure, protocol, rows: rows.collect() }
    }

    /// Comparisons that are counted, with their adjusted p.
    fn counted(&self) -> impl Iterator<Item = (&Comparison, f64)> {
        self.rows.iter().filter_map(|row| Some((row.comparison.as_ref()?, row.adjusted?)))
    }

    /// The number of datasets that are counted.
    pub fn datasets(&self) -> usize {
        self.counted().count()
    }

    /// The number of datasets with a significant improvement.
    pub fn better(&self) -> usize {
        self.counted().filter(|(comparison, _)| comparison.is_better()).count()
    }

    /// The number of datasets with a significant change for the worse.
    pub fn worse(&self) -> usize {
        self.counted().filter(|(comparison, _)| comparison.is_worse()).count()
    }

    /// The number of datasets with an improvement that is still significant after the correction.
    pub fn better_adjusted(&self) -> usize {
        self.counted().filter(|(_, adjusted)| *adjusted < SIGNIFICANT).count()
    }

    /// `5 of 7 datasets under protocol paper (4 after Holm's correction; higher in 1)`.
    pub fn counts(&self) -> String {
        self.counts_at("")
    }

    fn counts_at(&self, level: &str) -> String {
        let Self { measure, protocol, .. } = self;
        let (better, adjusted) = (self.better(), self.better_adjusted());
        let datasets = format::counted(self.datasets(), "dataset");
        let worse = match self.worse() {
            0 => "none".to_string(),
            count => count.to_string(),
        };
        format!(
            "{better} of {datasets}{level} under protocol {protocol} ({adjusted} after Holm's correction; {} in \
             {worse})",
            measure.worse()
        )
    }

    /// `lower test loss in 5 of 7 datasets at p < 0.05 under protocol paper (4 after Holm's correction; higher in 1)`.
    pub fn sentence(&self) -> String {
        let Self { measure, protocol, .. } = self;
        if self.datasets() == 0 {
            return format!("nothing to compare in {} under protocol {protocol} yet", measure.name());
        }
        let counts = self.counts_at(&format!(" at p < {SIGNIFICANT}"));
        format!("{} {} in {counts}", measure.better(), measure.name())
    }
}

#[cfg(test)]
mod tests {
    use super::super::made_up::{baseline, regularised};
    use super::super::{Method, Opponent};
    use super::*;
    use crate::sweep::Run;

    /// Six pairs per dataset: better everywhere, worse everywhere, nothing.
    fn family() -> Family {
        let mut runs = Vec::new();
        for (data, step) in [("good", -0.1), ("fair", -0.01), ("bad", 0.1), ("subset", -0.1)] {
            for hidden in 1..=6 {
                runs.push(baseline(data, hidden, 2.0));
                runs.push(regularised(data, hidden, 1.0, 2.0 + step * hidden as f64));
            }
        }
        let runs: Vec<&Run> = runs.iter().collect();
        let pairing = Pairing::of(&runs, &Method::paper(), Opponent::Baseline);
        let datasets = ["good", "fair", "bad", "subset", "absent"].map(String::from);
        Family::of(&pairing, &datasets, Protocol::Best, Measure::TEST_LOSS, |data| data != "subset")
    }

    #[test]
    fn datasets_are_counted_and_corrected() {
        let family = family();
        assert_eq!((family.datasets(), family.better(), family.worse()), (3, 2, 1));
        // p is 1/64 twice and 1 once: times 3 and 2, never falling.
        let adjusted: Vec<Option<f64>> = family.rows.iter().map(|row| row.adjusted).collect();
        assert_eq!(adjusted, [Some(3.0 / 64.0), Some(3.0 / 64.0), Some(1.0), None, None]);
        assert_eq!(family.better_adjusted(), 2);
        assert!(family.rows[3].comparison.as_ref().unwrap().is_better() && family.rows[4].comparison.is_none());
    }

    #[test]
    fn sentences_hold_the_counts() {
        assert_eq!(
            family().sentence(),
            "lower test loss in 2 of 3 datasets at p < 0.05 under protocol best (2 after Holm's correction; higher in \
             1)"
        );
        let empty = Family { rows: Vec::new(), ..family() };
        assert_eq!(empty.sentence(), "nothing to compare in test loss under protocol best yet");
    }
}

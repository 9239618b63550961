//! Whether the paper's claims hold here, for the top of a report.

use carat::Protocol;
use carat_lab::compare::Family;

use super::paper;

/// A claim and what the runs say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The item that has the details.
    pub item: &'static str,
    /// The claim, as a short sentence without its full stop.
    pub claim: String,
    /// The paper's figure; `None` where the paper does not make the claim.
    pub paper: Option<String>,
    /// The results here, one per protocol.
    pub answers: Vec<Answer>,
}

/// The result under one protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The protocol.
    pub protocol: Protocol,
    /// The numbers.
    pub text: String,
    /// The conclusion.
    pub verdict: Verdict,
}

impl Answer {
    /// A claim that holds in `found` of our `datasets`, and in `claimed` of the paper's.
    pub(super) fn counted(protocol: Protocol, found: usize, datasets: usize, claimed: usize) -> Self {
        let text = if datasets == 0 { "no runs".into() } else { format!("{found} of {datasets}") };
        Self { protocol, text, verdict: Verdict::of(found, datasets, claimed) }
    }
}

/// Whether a claim holds here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It holds in at least the paper's share of datasets.
    Reproduced,
    /// It holds in fewer, but in at least half of them.
    Partly,
    /// It holds in less than half.
    NotReproduced,
    /// Fewer than half as many datasets as in the paper have runs.
    TooFew,
    /// There are no runs.
    Unknown,
}

impl Verdict {
    /// For a claim that holds in `claimed` of the paper's datasets and in `found` of ours. The paper's share is rounded
    /// down to whole datasets.
    pub fn of(found: usize, ours: usize, claimed: usize) -> Self {
        match (found, ours) {
            (_, 0) => Self::Unknown,
            (_, ours) if 2 * ours < paper::COUNTED => Self::TooFew,
            (found, ours) if 2 * found < ours => Self::NotReproduced,
            (found, ours) if found >= claimed * ours / paper::COUNTED => Self::Reproduced,
            _ => Self::Partly,
        }
    }

    /// For a claim about all datasets together, of which we have `ours`.
    pub fn of_all(holds: bool, ours: usize) -> Self {
        match (holds, ours) {
            (_, 0) => Self::Unknown,
            (_, ours) if 2 * ours < paper::COUNTED => Self::TooFew,
            (true, _) => Self::Reproduced,
            (false, _) => Self::NotReproduced,
        }
    }

    /// For a claim about attention kinds that holds for `found` of the kinds with runs.
    pub fn of_kinds(found: usize, kinds: usize) -> Self {
        match (found, kinds) {
            (_, 0) => Self::Unknown,
            (found, kinds) if found == kinds => Self::Reproduced,
            (found, kinds) if 2 * found >= kinds => Self::Partly,
            _ => Self::NotReproduced,
        }
    }

    /// Its text in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Partly => "partly",
            Self::NotReproduced => "not reproduced",
            Self::TooFew => "too few datasets to tell",
            Self::Unknown => "no runs",
        }
    }
}

impl Finding {
    /// A claim about a number of datasets.
    pub(super) fn counted(item: &'static str, claim: &str, claimed: usize, families: &[Family]) -> Self {
        let answer = |family: &Family| Answer {
            protocol: family.protocol,
            text: match family.datasets() {
                0 => "no runs".to_string(),
                ours => {
                    let worse = match family.worse() {
                        0 => String::new(),
                        worse => format!(", worse in {worse}"),
                    };
                    format!("{} of {ours} ({} by Holm{worse})", family.better(), family.better_adjusted())
                }
            },
            verdict: Verdict::of(family.better(), family.datasets(), claimed),
        };
        Self {
            item,
            claim: claim.to_string(),
            paper: Some(format!("{claimed} of {}", paper::COUNTED)),
            answers: families.iter().map(answer).collect(),
        }
    }

    /// A question about datasets that the paper does not ask.
    pub(super) fn beyond(item: &'static str, claim: &str, families: &[Family]) -> Self {
        Self { paper: None, ..Self::counted(item, claim, paper::COUNTED, families) }
    }

    /// True where no protocol has runs.
    pub fn is_unknown(&self) -> bool {
        self.answers.iter().all(|answer| answer.verdict == Verdict::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_datasets_decide() {
        assert_eq!(Verdict::of(7, 7, 8), Verdict::Reproduced);
        assert_eq!(Verdict::of(6, 7, 8), Verdict::Partly);
        // 7 of 8 is 6.1 of 7.
        assert_eq!(Verdict::of(6, 7, 7), Verdict::Reproduced);
        assert_eq!(Verdict::of(4, 7, 7), Verdict::Partly);
        assert_eq!(Verdict::of(3, 7, 7), Verdict::NotReproduced);
        assert_eq!(Verdict::of(0, 0, 7), Verdict::Unknown);
        assert_eq!(Verdict::of(3, 3, 8), Verdict::TooFew);
        assert_eq!(Verdict::of(1, 4, 2), Verdict::NotReproduced);
        let of_kinds = [(3, 3), (2, 3), (1, 3), (0, 0)].map(|(found, kinds)| Verdict::of_kinds(found, kinds));
        assert_eq!(of_kinds, [Verdict::Reproduced, Verdict::Partly, Verdict::NotReproduced, Verdict::Unknown]);
    }
}

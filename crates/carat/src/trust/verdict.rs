//! From the measures to one honest sentence.

use serde::Serialize;

use super::Trust;

/// Whether attention may be read as an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It ranks edges much as their effects do.
    Yes,
    /// It has something of it, but often names the wrong edges.
    Partly,
    /// It says little or nothing of what edges do.
    No,
    /// It tends to name the edges that matter least.
    Reversed,
    /// Too few nodes can be judged.
    Unknown,
}

/// Faithfulness to the prediction from which on attention is an explanation, and from which on it is one in part. The
/// same is asked of the share of the best possible area between deletion curves.
const GOOD: f64 = 0.5;
const SOME: f64 = 0.2;

/// With fewer entities the mean says little.
const FEWEST: usize = 10;

impl Verdict {
    /// From the mean correlation of attention with what edges do to the prediction, over some entities, and the area
    /// between deletion curves as a share of the best possible.
    pub fn of(correlation: Option<f64>, entities: usize, share_of_best: Option<f64>) -> Self {
        let Some(correlation) = correlation.filter(|_| entities >= FEWEST) else { return Self::Unknown };
        // Where no order of deletion changes anything, the curves have no say.
        let curves = share_of_best.unwrap_or(correlation);
        match (correlation, curves.min(correlation)) {
            (_, worse) if worse >= GOOD => Self::Yes,
            (_, worse) if worse >= SOME => Self::Partly,
            (correlation, _) if correlation <= -SOME => Self::Reversed,
            _ => Self::No,
        }
    }

    /// The answer in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Yes => "Yes: attention says what edges do",
            Self::Partly => "In part: attention says something of what edges do",
            Self::No => "No: attention says little of what edges do",
            Self::Reversed => "No: attention tends to lie on the edges that matter least",
            Self::Unknown => "Not known: too few nodes have edges to tell apart",
        }
    }
}

impl Trust {
    /// The verdict as a sentence with its figures.
    pub fn sentence(&self) -> String {
        let entity = self.entity_word();
        let entities = self.mean().self_faithfulness.entities;
        let Some(correlation) = self.mean().self_faithfulness.pearson.filter(|_| self.verdict != Verdict::Unknown)
        else {
            return format!(
                "Only {entities} of {} {entity}s have at least two edges that do different things to the prediction, \
                 too few to judge attention.",
                self.entities
            );
        };
        let curves = match self.share_of_best() {
            _ if self.curve_entities == 0 => String::new(),
            Some(share) if share > 0.0 => format!(
                ", and deleting the most attended edges first changes predictions faster than chance by {:.0} % of \
                 what the best order would",
                100.0 * share
            ),
            Some(_) => ", and deleting the most attended edges first changes predictions no faster than chance".into(),
            None => ", and no order of deletion changes the predictions much".into(),
        };
        let advice = match self.verdict {
            Verdict::Yes => "it may be read as an explanation",
            Verdict::Partly => "read it as a hint, and check single edges with 'carat effects'",
            Verdict::No | Verdict::Reversed | Verdict::Unknown => {
                "do not read it as an explanation; 'carat effects' measures what every edge does"
            }
        };
        format!(
            "Over {entities} {entity}s, attention and the effect of edges on the prediction correlate by \
             {correlation:.2} (1 would be perfect, 0 is what uniform or random attention has){curves}: {advice}."
        )
    }
}

//! The search: rounds of candidates, then successive halving over repetitions.
//!
//! Candidates come in rounds of [`ROUND`]. Every second one is drawn from the space, and the others change one of the
//! best of earlier rounds; those of the first round change the base. So the sequence of candidates depends on the seed
//! alone, and time only decides how far it goes. A search that goes on after a kill takes the same way.

use std::time::{Duration, Instant};

use carat::{Error, TrainConfig};

use super::candidate::{Candidate, Origin, Score};
use super::draws::Draws;
use super::repetitions::Repetitions;

/// Candidates that are drawn at a time.
const ROUND: usize = 12;

/// Good candidates that later rounds change.
const GOOD: usize = 3;

/// A stage.
struct Plan {
    /// One in so many candidates is in it.
    one_in: usize,
    /// Repetitions by its end.
    repetitions: usize,
    /// Shares of the time after which no training begins, and after which those at work are given up.
    limits: (f64, f64),
}

/// A training that takes long may end a little later than its stage, at the cost of the next one.
const STAGES: [Plan; 3] = [
    Plan { one_in: 1, repetitions: 1, limits: (0.5, 0.65) },
    Plan { one_in: 3, repetitions: 3, limits: (0.75, 0.85) },
    Plan { one_in: 9, repetitions: 9, limits: (1.0, 1.0) },
];

/// How much to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// As many candidates.
    Candidates(usize),
    /// As much time. What is at work when it is over is given up.
    Time(Duration),
}

/// What is about to be trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// The number of candidates.
    pub candidates: usize,
    /// Repetitions of each by the end of the stage.
    pub repetitions: usize,
}

/// How long a stage may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// No training begins after this moment.
    pub begin: Option<Instant>,
    /// Trainings at work are given up at this moment.
    pub end: Option<Instant>,
}

/// Trains runs in their order, and says what validation says of each; `None` of those that were not trained.
pub type Evaluate<'a> = dyn Fn(Stage, &[TrainConfig], Limits) -> Result<Vec<Option<Score>>, Error> + 'a;

/// A search.
pub struct Search<'a> {
    /// Draws candidates.
    pub draws: Draws<'a>,
    /// The settings known for the dataset.
    pub tuned: Option<TrainConfig>,
    /// The runs that repeat a candidate.
    pub repetitions: Repetitions,
    /// How much to search.
    pub budget: Budget,
    /// Trains runs.
    pub evaluate: &'a Evaluate<'a>,
}

impl Search<'_> {
    /// The most repetitions of a candidate.
    pub const REPETITIONS: usize = STAGES[STAGES.len() - 1].repetitions;

    /// Searches. The best candidate comes first, and those with more repetitions before others.
    pub fn run(mut self) -> Result<Vec<Candidate>, Error> {
        let start = Instant::now();
        let limits = |(begin, end): (f64, f64)| match self.budget {
            Budget::Candidates(_) => Limits::default(),
            Budget::Time(time) => {
                let after = |share| start.checked_add(time.mul_f64(share));
                Limits { begin: after(begin), end: after(end) }
            }
        };
        let [first, later @ ..] = STAGES.map(|plan| (plan.one_in, plan.repetitions, limits(plan.limits)));
        let mut candidates = self.first_stage(first.2)?;
        let mut repetitions = first.1;
        for (one_in, wanted, limits) in later {
            let kept = best(&candidates, candidates.len().div_ceil(one_in));
            if kept.len() > 1 {
                repetitions = self.repeat(&mut candidates, &kept, repetitions..wanted, limits)?;
            }
        }
        candidates.sort_by(|a, b| b.scores.len().cmp(&a.scores.len()).then(b.score().total_cmp(&a.score())));
        Ok(candidates)
    }

    /// Draws candidates and trains each once, until there are enough or the time is over.
    fn first_stage(&mut self, limits: Limits) -> Result<Vec<Candidate>, Error> {
        let most = match self.budget {
            Budget::Candidates(count) => count,
            Budget::Time(_) => usize::MAX,
        };
        let mut candidates: Vec<Candidate> = Vec::new();
        loop {
            let round = self.round(&candidates, most)?;
            if round.is_empty() {
                return Ok(candidates);
            }
            let runs: Vec<TrainConfig> = round.iter().map(|c| self.repetitions.run(&c.config, 0)).collect();
            let stage = Stage { candidates: candidates.len() + round.len(), repetitions: 1 };
            let scores = (self.evaluate)(stage, &runs, limits)?;
            let is_over = scores.iter().any(Option::is_none);
            let scored = round.into_iter().zip(scores);
            candidates.extend(scored.filter_map(|(c, score)| Some(Candidate { scores: vec![score?], ..c })));
            // The base is what all others are compared with.
            if candidates.first().is_none_or(|first| first.origin != Origin::Base) {
                return Err(Error::Interrupted);
            }
            if is_over || limits.begin.is_some_and(|begin| Instant::now() >= begin) {
                return Ok(candidates);
            }
        }
    }

    /// The candidates of the next round.
    fn round(&mut self, candidates: &[Candidate], most: usize) -> Result<Vec<Candidate>, Error> {
        let mut round = if candidates.is_empty() { self.draws.given(self.tuned.as_ref()) } else { Vec::new() };
        let good: Vec<Candidate> = match candidates {
            [] => round.clone(),
            _ => best(candidates, GOOD).into_iter().map(|place| candidates[place].clone()).collect(),
        };
        while round.len() < ROUND && candidates.len() + round.len() < most {
            let number = candidates.len() + round.len();
            let good = if number.is_multiple_of(2) { &good[..] } else { &[] };
            match self.draws.draw(number, good)? {
                Some(candidate) => round.push(candidate),
                None => break,
            }
        }
        round.truncate(most);
        Ok(round)
    }

    /// Trains some candidates again, one repetition of all of them after the other, and adds the scores of those that
    /// all of them have. Gives the number of repetitions then.
    fn repeat(
        &self,
        candidates: &mut [Candidate],
        kept: &[usize],
        repetitions: std::ops::Range<usize>,
        limits: Limits,
    ) -> Result<usize, Error> {
        let of_all = |number| kept.iter().map(move |&place| (place, number));
        let asked: Vec<(usize, usize)> = repetitions.clone().flat_map(of_all).collect();
        let run = |&(place, number): &(usize, usize)| self.repetitions.run(&candidates[place].config, number);
        let runs: Vec<TrainConfig> = asked.iter().map(run).collect();
        let stage = Stage { candidates: kept.len(), repetitions: repetitions.end };
        let scores = (self.evaluate)(stage, &runs, limits)?;
        let mut done = repetitions.start;
        for scores in scores.chunks(kept.len()) {
            let Some(scores) = scores.iter().copied().collect::<Option<Vec<Score>>>() else { break };
            kept.iter().zip(scores).for_each(|(&place, score)| candidates[place].scores.push(score));
            done += 1;
        }
        Ok(done)
    }
}

/// The places of the best candidates among those with most repetitions, and that of the base, which is the first.
/// Of equals the earlier one is better.
fn best(candidates: &[Candidate], count: usize) -> Vec<usize> {
    let most = candidates.iter().map(|candidate| candidate.scores.len()).max().unwrap_or_default();
    let mut places: Vec<usize> = (0..candidates.len()).filter(|&c| candidates[c].scores.len() == most).collect();
    places.sort_by(|&a, &b| candidates[b].score().total_cmp(&candidates[a].score()));
    places.truncate(count);
    if !places.contains(&0) && !candidates.is_empty() {
        places.push(0);
    }
    places
}

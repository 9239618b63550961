//! Draws candidates. The draw of a candidate depends on the seed, on its number and, where it changes a good candidate,
//! on that one: not on threads and not on time.

use std::collections::HashSet;

use carat::{Error, TrainConfig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::candidate::{Candidate, Origin};
use super::space::{Space, with};

/// Draws that are refused or known already before a space counts as exhausted.
const MOST_ATTEMPTS: usize = 1000;

/// The most settings in which a changed candidate differs from the good one.
const MOST_CHANGES: usize = 3;

/// Draws candidates, none of them twice.
pub struct Draws<'a> {
    base: TrainConfig,
    space: Space,
    /// Refuses settings that mean nothing on the data.
    check: &'a dyn Fn(&TrainConfig) -> Result<(), Error>,
    known: HashSet<String>,
}

impl<'a> Draws<'a> {
    /// Draws that stand on the settings of `base`. `check` refuses settings that mean nothing on the data. A space
    /// without a single combination that means something is an error.
    pub fn new(
        base: &TrainConfig,
        space: Space,
        check: &'a dyn Fn(&TrainConfig) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        if space.is_empty() {
            let problem = "there is nothing to search: every setting of the space is given as a flag";
            return Err(Error::Config(problem.into()));
        }
        let draws = Self { base: base.clone().reset_unused_settings(), space, check, known: HashSet::new() };
        let mut random = draws.random(0);
        let mut refused = None;
        for _ in 0..MOST_ATTEMPTS {
            match draws.check(&draws.attempt(&mut random, &[])?.0) {
                Ok(()) => return Ok(draws),
                Err(error) => refused = Some(error),
            }
        }
        let why = refused.map_or(String::new(), |error| error.to_string());
        Err(Error::Config(format!("no combination of the values to search is possible: {why}")))
    }

    /// The base as a candidate, and the settings known for the dataset if there are any.
    pub(super) fn given(&mut self, tuned: Option<&TrainConfig>) -> Vec<Candidate> {
        let base = (self.base.clone(), Origin::Base);
        let tuned = tuned.map(|tuned| (tuned.clone().reset_unused_settings(), Origin::Tuned));
        let all = std::iter::once(base).chain(tuned);
        all.filter_map(|(config, origin)| self.accept(config, origin)).collect()
    }

    /// Candidate `number`: drawn, or one of `good` with some settings drawn anew. `None` where the space has no more.
    pub(super) fn draw(&mut self, number: usize, good: &[Candidate]) -> Result<Option<Candidate>, Error> {
        let mut random = self.random(number);
        for _ in 0..MOST_ATTEMPTS {
            let (config, origin) = self.attempt(&mut random, good)?;
            if let Some(candidate) = self.accept(config, origin) {
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }

    /// Random numbers of a candidate's own.
    fn random(&self, number: usize) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.base.seed);
        random.set_stream(number as u64);
        random
    }

    fn attempt(&self, random: &mut ChaCha8Rng, good: &[Candidate]) -> Result<(TrainConfig, Origin), Error> {
        if good.is_empty() {
            return Ok((with(&self.base, &self.space.draw(random))?, Origin::Drawn));
        }
        let mut config = good[random.random_range(0..good.len())].config.clone();
        for _ in 0..random.random_range(1..=MOST_CHANGES) {
            config = with(&config, &self.space.draw_one(random))?;
        }
        Ok((config, Origin::Changed))
    }

    fn check(&self, config: &TrainConfig) -> Result<(), Error> {
        config.check().and_then(|()| (self.check)(config))
    }

    /// The settings as a candidate, unless they mean nothing or are known.
    fn accept(&mut self, config: TrainConfig, origin: Origin) -> Option<Candidate> {
        self.check(&config).ok()?;
        // Settings are numbers and text, which always serialise.
        let is_new = self.known.insert(toml::to_string(&config).unwrap_or_default());
        is_new.then(|| Candidate { config, origin, scores: Vec::new() })
    }
}

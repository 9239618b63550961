//! The grids that items share, in full and as the quick subset.
//!
//! ```text
//!                     full                                          quick
//! most datasets       the paper's: 3 kinds, L 1 and 2, K 1, 3, 5,   3 kinds, L 1 and 2, K 3, F 25 and 100,
//!                     F 10, 25, 100, 200, lambda 0.1, 0.5, 1, 5     lambda 1 and 5
//! chameleon, squirrel the same                                      F 25 only
//! arxiv-tape          gat, L 1, K 1, F 25, lambda 1                 the same, at most 40 epochs
//! ```
//!
//! Every setting has its baseline (lambda 0) and both protocols.

use carat_lab::sweep::Grid;

use super::Scope;

/// The same graph as ogbn-arxiv with other features. It is large: a single training takes minutes.
pub(super) const LARGE: &str = "arxiv-tape";

/// Datasets whose many edges make trainings slow.
pub(super) const DENSE: [&str; 2] = ["chameleon", "squirrel"];

/// True where a dataset counts in sentences such as "in 5 of 7 datasets". arxiv-tape does not: its features are not the
/// paper's, and it has too few runs.
pub(super) fn counts(data: &str) -> bool {
    data != LARGE
}

/// The grid on one dataset that most items share.
pub(super) fn base(data: &str, scope: &Scope) -> Grid {
    let grid = Grid::paper(data)
        .with("split", scope.splits_of(data).into_iter().map(|split| split as i64))
        .with("seed", scope.seeds.iter().map(|seed| *seed as i64));
    if data == LARGE {
        let grid = grid.with("arch", ["gat"]).with("layers", [1]).with("heads", [1]).with("hidden", [25]);
        let grid = grid.with("lambda", [0.0, 1.0]);
        return if scope.quick { grid.with("epochs", [40]) } else { grid };
    }
    if !scope.quick {
        return grid;
    }
    let hidden: &[i64] = if DENSE.contains(&data) { &[25] } else { &[25, 100] };
    grid.with("heads", [3]).with("hidden", hidden.iter().copied()).with("lambda", [0.0, 1.0, 5.0])
}

/// The grid of every dataset in scope.
pub(super) fn bases(scope: &Scope) -> Vec<Grid> {
    scope.datasets.iter().map(|data| base(data, scope)).collect()
}

/// The same grid at the strengths of the paper's ablations; arxiv-tape keeps its own strengths.
pub(super) fn strong(data: &str, scope: &Scope) -> Grid {
    let grid = base(data, scope);
    if data == LARGE { grid } else { grid.with("lambda", [0.0, 1.0, 5.0]) }
}

/// A description of [`bases`].
pub(super) fn description(scope: &Scope) -> String {
    let grid = if scope.quick {
        "the quick subset of the paper's grid: three attention kinds, L 1 and 2, K 3, F 25 and 100 (Chameleon and \
         Squirrel: F 25 only), lambda 1 and 5; arxiv-tape: gat, L 1, K 1, F 25, lambda 1, at most 40 epochs"
    } else {
        "the paper's grid: three attention kinds, L 1 and 2, K 1, 3 and 5, F 10, 25, 100 and 200, lambda 0.1, 0.5, 1 \
         and 5; arxiv-tape: gat, L 1, K 1, F 25, lambda 1 only"
    };
    format!("{grid}; {}", repetitions(scope))
}

/// A description of the splits and seeds.
pub(super) fn repetitions(scope: &Scope) -> String {
    let list = |numbers: Vec<u64>, noun: &str| {
        let is_run = numbers.len() > 2 && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
        match &numbers[..] {
            [one] => format!("{noun} {one}"),
            [first, .., last] if is_run => format!("{noun}s {first} to {last}"),
            several => {
                let texts: Vec<String> = several.iter().map(u64::to_string).collect();
                format!("{noun}s {}", texts.join(", "))
            }
        }
    };
    let splits = list(scope.splits.iter().map(|split| *split as u64).collect(), "split");
    format!("{splits} (where the data has several) and {}", list(scope.seeds.clone(), "seed"))
}

"""Writes the golden file that carat-report's statistics are tested against, from scipy and NumPy.

    python tools/golden/make_statistics_golden.py [--out crates/carat-report/tests/golden]

Samples are stored as rules that Python and Rust compute to the same bits (`sample` below, and its twin in
`crates/carat-report/tests/statistics.rs`), results as numbers. Signed-rank probabilities that come from counting are also
computed with whole numbers, because scipy's lose their digits far out in the tail. `README.md` lists the fields.
"""

import argparse
import json
import math
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy import stats

ROOT = Path(__file__).resolve().parents[2]
SIZES = (1, 2, 3, 5, 10, 13, 14, 25, 49, 50, 51, 100, 500, 2000)
KINDS = {
    "continuous": dict(shift=0.1),
    "downwards": dict(shift=-0.25),
    "tied": dict(levels=3, shift=0.0),
    "tied without zeros": dict(levels=2, shift=0.25),
    "with zeros": dict(zero_every=4, shift=0.2),
    "mostly zeros": dict(zero_of=5, shift=0.1),
    "all zeros": dict(spread=0.0, shift=0.0),
    "all equal": dict(spread=0.0, shift=0.3),
    "all positive": dict(spread=0.1, shift=0.5),
    "tiny": dict(shift=0.2, scale=2.0**-200),
    "huge": dict(shift=0.2, scale=2.0**200),
}
RESAMPLED = ((2, 50), (3, 200), (5, 999), (10, 1000), (25, 2000), (200, 500))
DRAWN = (10, 25, 100, 2000)


class Uniform:
    """Knuth's linear congruential generator, whose upper 53 bits are a number in 0 to 1."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) / 2.0**53


def rule(seed, n, spread=1.0, levels=0, shift=0.0, scale=1.0, zero_every=0, zero_of=0):
    return dict(
        seed=seed, n=n, spread=spread, levels=levels, shift=shift, scale=scale, zero_every=zero_every, zero_of=zero_of
    )


def sample(rule):
    """Values about `shift`, in steps of 1 / `levels` where there are levels.

    Every `zero_every`-th is 0, or all but every `zero_of`-th are. Only operations whose rounding IEEE 754 fixes.
    """
    uniform = Uniform(rule["seed"])
    values = []
    for index in range(rule["n"]):
        noise = uniform.next() + uniform.next() + uniform.next() - 1.5
        if rule["levels"]:
            noise = math.floor(noise * rule["levels"] + 0.5) / rule["levels"]
        value = (noise * rule["spread"] + rule["shift"]) * rule["scale"]
        if rule["zero_every"] and index % rule["zero_every"] == 0 or rule["zero_of"] and index % rule["zero_of"]:
            value = 0.0
        values.append(value)
    return values


def resampled_means(values, seed, count):
    """Means of resamples, drawn by the generator above and summed from left to right."""
    uniform = Uniform(seed)
    means = []
    for _ in range(count):
        total = 0.0
        for _ in values:
            total += values[int(uniform.next() * len(values))]
        means.append(total / len(values))
    return means


def number(value):
    """As JSON can hold it."""
    return float(value) if math.isfinite(value) else None


def scipy_wilcoxon(values):
    """None where scipy refuses (a single zero) or has NaN."""
    try:
        return number(stats.wilcoxon(values, alternative="greater", correction=False, zero_method="wilcox").pvalue)
    except ValueError:
        return None


def counted_wilcoxon(values):
    """The probability by counting signs with whole numbers, where scipy counts them, too; None elsewhere."""
    kept = [value for value in values if value != 0.0]
    disturbed = len(kept) < len(values) or len({abs(value) for value in kept}) < len(kept)
    if not kept or len(values) > (13 if disturbed else 50):
        return None
    ranks = [int(2 * rank) for rank in stats.rankdata(np.abs(kept))]
    positive = sum(rank for rank, value in zip(ranks, kept) if value > 0)
    ways = [1] + [0] * sum(ranks)
    for rank in ranks:
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    return float(Fraction(sum(ways[positive:]), 2 ** len(kept)))


def rank_biserial(values):
    kept = np.array([value for value in values if value != 0.0])
    if len(kept) == 0:
        return None
    ranks = stats.rankdata(np.abs(kept))
    return float((ranks[kept > 0].sum() - ranks[kept < 0].sum()) / ranks.sum())


def one_sample(kind, n, seed):
    given = rule(seed, n, **KINDS[kind])
    values = sample(given)
    constant = min(values) == max(values)
    deviation = None if n == 1 else 0.0 if constant else float(np.std(values, ddof=1))
    scipy_p, counted = scipy_wilcoxon(values), counted_wilcoxon(values)
    if scipy_p is not None and counted is not None:
        assert abs(scipy_p - counted) <= 1e-9 * counted + 1e-14, (kind, n)
    return {
        "kind": kind,
        "rule": given,
        "wilcoxon": scipy_p,
        "wilcoxon_counted": counted,
        "mean": math.fsum(values) / n,
        "deviation": deviation,
        "cohens_d": float(np.mean(values)) / deviation if deviation else None,
        "rank_biserial": rank_biserial(values),
        "five_numbers": [float(q) for q in np.quantile(values, [0, 0.25, 0.5, 0.75, 1])],
    }


def two_samples(seed):
    """Welch's test on every size against others, on samples near and far from each other."""
    cases = []
    kinds = [kind for kind in KINDS if kind not in ("all zeros", "tiny", "huge")]
    for index, n in enumerate(SIZES):
        for step, kind in enumerate(kinds):
            other = SIZES[(index * 5 + step * 3) % len(SIZES)]
            scale = (1.0, 1.0, 2.0**-200, 2.0**200)[(index + step) % 4]
            first = rule(seed + len(cases), n, **{**KINDS[kind], "scale": scale})
            second = rule(seed + 1000 + len(cases), other, shift=(0.0, 0.3, -2.0)[step % 3], scale=scale)
            a, b = sample(first), sample(second)
            # The test does not depend on the unit; scipy's squares of variances overflow in this one.
            unit = 1.0 / scale
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                p = stats.ttest_ind(
                    np.array(a) * unit, np.array(b) * unit, equal_var=False, alternative="greater"
                ).pvalue
            cases.append({"a": first, "b": second, "welch": number(p)})
    return cases


def intervals(seed):
    """scipy's intervals of given resampled means: it draws none of its own.

    Values are multiples of 1 / 1024, so that sums are exact: scipy tells equal means apart where their rounding
    differs.
    """
    cases = []
    for n, count in RESAMPLED:
        for zero_every in (0, 3):
            given = rule(seed, n, levels=1024, shift=0.25, zero_every=zero_every)
            values, draws = sample(given), seed + 50
            means = resampled_means(values, draws, count)
            case = {"rule": given, "draws": draws, "resamples": count}
            for method in ("BCa", "percentile"):
                once = stats.bootstrap((values,), np.mean, method=method, n_resamples=1, rng=0)
                once.bootstrap_distribution = np.array(means)
                found = stats.bootstrap((values,), np.mean, method=method, n_resamples=0, bootstrap_result=once)
                case[method.lower()] = [float(end) for end in found.confidence_interval]
            cases.append(case)
            seed += 1
    return cases


def drawn_intervals(seed):
    """Intervals of scipy's own resamples, which another generator's come close to."""
    cases = []
    for n in DRAWN:
        given = rule(seed + n, n, shift=0.1)
        found = stats.bootstrap((sample(given),), np.mean, n_resamples=50_000, rng=1, batch=500)
        cases.append({"rule": given, "bca": [float(end) for end in found.confidence_interval]})
    return cases


def holm(p_values):
    """By the definition: the largest of (m + 1 - k) p_(k) up to one's own place."""
    order = sorted(p_values)
    steps = [min(1.0, (len(order) - k) * p) for k, p in enumerate(order)]
    return [max(steps[: order.index(p) + p_values.count(p)]) for p in p_values]


def corrections(seed):
    lists = [[0.01, 0.04, 0.03, 0.005], [0.5], [0.02, 0.02, 0.9, 0.001, 0.02], [1.0, 0.0, 0.3]]
    uniform = Uniform(seed)
    lists += [[uniform.next() ** 6 for _ in range(n)] for n in (7, 12, 30)]
    return [{"p": p, "holm": holm(p)} for p in lists]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "crates/carat-report/tests/golden")
    out = parser.parse_args().out
    warnings.simplefilter("ignore", RuntimeWarning)
    samples = [one_sample(kind, n, 100 * k + s) for k, kind in enumerate(KINDS) for s, n in enumerate(SIZES)]
    golden = {
        "samples": samples,
        "pairs": two_samples(5000),
        "intervals": intervals(7000),
        "drawn_intervals": drawn_intervals(8000),
        "corrections": corrections(9000),
    }
    out.mkdir(parents=True, exist_ok=True)
    parts = [f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, cases)) + "\n]" for name, cases in golden.items()]
    path = out / "statistics.json"
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()

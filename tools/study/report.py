"""Markdown tables from stores of `carat sweep`, with scipy's statistics: a second opinion on `carat report`.

    python tools/study/report.py baseline STORE.db ...     each regularised run against the baseline of its setting
    python tools/study/report.py controls STORE.db ...     causal against random, constant and vote

Runs pair by everything but the regulariser's choices: same data, split, sizes, seed. p values are those of the
one-tailed paired Wilcoxon signed-rank test (scipy), for a lower loss, a higher accuracy, a higher attention_auc. Needs
scipy.
"""

import json
import sqlite3
import sys

import numpy as np
from scipy.stats import wilcoxon

# The regulariser's choices, with their defaults.
CHOICES = {
    "lambda": 0,
    "regulariser": "causal",
    "rounds": 5,
    "interventions": "exact",
    "temperature": 0.1,
    "exponent": "degree",
    "loss-floor": 0,
    "entities": "train",
    "target": "bce",
    "clamp": 2,
    "warm-up": 8,
    "teacher": 0.8,
}
FIGURES = {"test_loss": "less", "test_accuracy": "greater", "attention_auc": "greater", "val_loss": "less"}
# What tells a causal run from its control.
OF_CONTROLS = {"regulariser", "clamp", "teacher"}


def read(paths):
    """Every finished run as (settings, protocol, figures)."""
    rows = []
    for path in paths:
        store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        for config, *figures in store.execute(f"SELECT config, {', '.join(FIGURES)} FROM runs WHERE error IS NULL"):
            setting = json.loads(config)
            protocol = setting.pop("protocol")
            figures = [float("nan") if figure is None else figure for figure in figures]
            rows.append((setting, protocol, dict(zip(FIGURES, figures))))
    return rows


def key(setting, without):
    return tuple(sorted((name, str(value)) for name, value in setting.items() if name not in without))


def p_value(ours, theirs, alternative):
    ours, theirs = np.array(ours), np.array(theirs)
    both = np.isfinite(ours) & np.isfinite(theirs)
    ours, theirs = ours[both], theirs[both]
    if len(ours) == 0 or np.all(ours == theirs):
        return float("nan")
    return wilcoxon(ours, theirs, alternative=alternative, correction=False, zero_method="wilcox").pvalue


def cell(pairs, name):
    ours = [a[name] for a, _ in pairs]
    theirs = [b[name] for _, b in pairs]
    p = p_value(ours, theirs, FIGURES[name])
    return f"{np.nanmean(theirs):.3f} -> {np.nanmean(ours):.3f} (p {p:.1e})"


def table(groups, first):
    names = list(FIGURES)
    print("| " + " | ".join(first + ["pairs"] + names) + " |")
    print("|" + "---|" * (len(first) + 1 + len(names)))
    for group, pairs in groups.items():
        print("| " + " | ".join(list(group) + [str(len(pairs))] + [cell(pairs, name) for name in names]) + " |")


def variant(setting):
    """The regulariser's choices in words, lambda apart."""
    other = {name: setting[name] for name in CHOICES if setting.get(name, CHOICES[name]) != CHOICES[name]}
    return " ".join(f"{name}={value}" for name, value in other.items() if name != "lambda") or "causal"


def against_baseline(rows):
    baselines = {
        (key(setting, CHOICES), protocol): figures for setting, protocol, figures in rows if setting["lambda"] == 0
    }
    groups = {}
    for setting, protocol, figures in rows:
        baseline = baselines.get((key(setting, CHOICES), protocol))
        if setting["lambda"] != 0 and baseline:
            for strength in (str(setting["lambda"]), "all"):
                group = (setting["data"], protocol, setting["arch"], variant(setting), strength)
                groups.setdefault(group, []).append((figures, baseline))
    table(dict(sorted(groups.items())), ["data", "protocol", "arch", "regulariser", "lambda"])


def against_controls(rows):
    rows = [row for row in rows if row[0]["lambda"] != 0]
    controls = {
        (key(setting, OF_CONTROLS), protocol, setting["regulariser"]): figures for setting, protocol, figures in rows
    }
    groups = {}
    for setting, protocol, figures in rows:
        if setting["regulariser"] != "causal":
            continue
        for arm in ("random", "constant", "vote"):
            control = controls.get((key(setting, OF_CONTROLS), protocol, arm))
            if control:
                for arch in (setting["arch"], "all"):
                    group = (setting["data"], protocol, arch, variant(setting), f"{arm}, lambda {setting['lambda']}")
                    groups.setdefault(group, []).append((figures, control))
    table(dict(sorted(groups.items())), ["data", "protocol", "arch", "ours", "control"])


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("baseline", "controls"):
        sys.exit(__doc__)
    {"baseline": against_baseline, "controls": against_controls}[sys.argv[1]](read(sys.argv[2:]))

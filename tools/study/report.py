"""Markdown tables from the CSV files of the study runner (crates/carat-lab/examples/study.rs).

    python tools/study/report.py baseline FILE.csv ...     each regularised run against the baseline of its setting
    python tools/study/report.py controls FILE.csv ...     causal against random and constant

Runs pair by everything but the regulariser's choices: same data, split, sizes, seed. p values are those of the one-tailed
paired Wilcoxon signed-rank test (scipy), for a lower loss, a higher accuracy, a higher attention_auc. Needs scipy.
"""

import csv
import sys

import numpy as np
from scipy.stats import wilcoxon

CHOICES = {"lambda", "regulariser", "entities", "target", "rounds", "clamp", "warm-up", "teacher", "exponent", "temperature"}
FIGURES = {"test_loss": "less", "test_accuracy": "greater", "attention_auc": "greater", "val_loss": "less"}


def read(paths):
    """Every row as (setting, protocol, figures)."""
    rows = []
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                setting = dict(word.split("=", 1) for word in row["setting"].split())
                rows.append((setting, row["protocol"], {name: float(row[name]) for name in FIGURES}))
    return rows


def key(setting, without):
    return tuple(sorted((name, value) for name, value in setting.items() if name not in without))


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
    words = [f"{name}={value}" for name, value in sorted(setting.items()) if name in CHOICES - {"lambda"}]
    return " ".join(words) or "causal"


def against_baseline(rows):
    baselines = {(key(setting, CHOICES), protocol): figures for setting, protocol, figures in rows if "lambda" not in setting}
    groups = {}
    for setting, protocol, figures in rows:
        baseline = baselines.get((key(setting, CHOICES), protocol))
        if "lambda" in setting and baseline:
            for strength in (setting["lambda"], "all"):
                group = (setting["data"], protocol, setting.get("arch", "gat"), variant(setting), strength)
                groups.setdefault(group, []).append((figures, baseline))
    table(dict(sorted(groups.items())), ["data", "protocol", "arch", "regulariser", "lambda"])


def against_controls(rows):
    controls = {}
    for setting, protocol, figures in rows:
        arm = setting.get("regulariser", "causal")
        if "lambda" in setting and arm != "causal":
            controls[(key(setting, {"regulariser", "clamp", "teacher"}), protocol, arm)] = figures
    groups = {}
    for setting, protocol, figures in rows:
        if "lambda" not in setting or setting.get("regulariser", "causal") != "causal":
            continue
        for arm in ("random", "constant", "vote"):
            control = controls.get((key(setting, {"regulariser", "clamp", "teacher"}), protocol, arm))
            if control:
                for arch in (setting.get("arch", "gat"), "all"):
                    group = (setting["data"], protocol, arch, variant(setting), f"{arm}, lambda {setting['lambda']}")
                    groups.setdefault(group, []).append((figures, control))
    table(dict(sorted(groups.items())), ["data", "protocol", "arch", "ours", "control"])


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("baseline", "controls"):
        sys.exit(__doc__)
    {"baseline": against_baseline, "controls": against_controls}[sys.argv[1]](read(sys.argv[2:]))

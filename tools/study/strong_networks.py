"""The tables of docs/strong-networks.md, from stores of `carat sweep`: CAR and its controls against plain training.

    python tools/study/strong_networks.py gat=gat.db strong=strong.db

A store has the runs of one preset. Runs pair by data, kind, split and seed. p values are of scipy's paired two-sided
Wilcoxon test over the runs of all three kinds; at least five pairs have to differ.
"""

import json
import sqlite3
import statistics
import sys

from scipy.stats import wilcoxon

KINDS = ("gat", "gatv2", "transformer")
ARMS = ("causal", "constant", "random")


def read(presets):
    """Figures by (data, preset), kind, arm and (split, seed): the test loss, and accuracy or minesweeper's ROC AUC."""
    found = {}
    for preset, path in presets:
        store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        query = "SELECT config, test_loss, test_accuracy, test_roc_auc FROM runs WHERE error IS NULL"
        for config, loss, accuracy, roc_auc in store.execute(query):
            config = json.loads(config)
            arm = config["regulariser"] if config["lambda"] else "plain"
            kinds = found.setdefault((config["data"], preset), {})
            runs = kinds.setdefault(config["arch"], {}).setdefault(arm, {})
            figure = roc_auc if config["data"] == "minesweeper" else accuracy
            runs[config["split"], config["seed"]] = {"loss": loss, "accuracy": figure}
    return found


def mean_and_p(differences, scale, digits):
    unequal = [value for value in differences if value]
    p = f"{wilcoxon(unequal).pvalue:.3f}" if len(unequal) >= 5 else "-"
    return f"{scale * statistics.mean(differences):+.{digits}f}, {p}"


def row(kinds, figure, scale, digits):
    """The cells of a pair of data and preset; nothing where an arm has no run."""
    if any(len(kinds.get(kind, {})) < 1 + len(ARMS) for kind in KINDS):
        return None
    runs = {kind: sorted(set.intersection(*(set(of_arm) for of_arm in kinds[kind].values()))) for kind in KINDS}
    if not all(runs.values()):
        return None
    value = lambda kind, arm, run: kinds[kind][arm][run][figure]  # noqa: E731
    plain = " / ".join(f"{statistics.mean(value(kind, 'plain', run) for run in runs[kind]):.3f}" for kind in KINDS)
    cells = [str(min(map(len, runs.values()))), plain]
    differences = {
        arm: [[value(kind, arm, run) - value(kind, "plain", run) for run in runs[kind]] for kind in KINDS]
        for arm in ARMS
    }
    for arm in ARMS:
        cells.append(" / ".join(f"{scale * statistics.mean(of_kind):+.{digits}f}" for of_kind in differences[arm]))
    of_all = {arm: [value for of_kind in differences[arm] for value in of_kind] for arm in ARMS}
    beyond = [causal - constant for causal, constant in zip(of_all["causal"], of_all["constant"])]
    return [*cells, mean_and_p(of_all["causal"], scale, digits), mean_and_p(beyond, scale, digits)]


def main():
    presets = [argument.split("=", 1) for argument in sys.argv[1:]]
    if not presets or any(len(parts) != 2 for parts in presets):
        sys.exit(__doc__)
    found = read(presets)
    for figure, scale, digits in (("accuracy", 100, 1), ("loss", 1, 3)):
        print(f"\n{figure}\n")
        print("| data | preset | runs | plain | CAR | constant | random | CAR: mean, p | CAR less constant: mean, p |")
        print("|" + "---|" * 9)
        for (data, preset), kinds in sorted(found.items()):
            cells = row(kinds, figure, scale, digits)
            if cells:
                print("| " + " | ".join([data, preset, *cells]) + " |")


if __name__ == "__main__":
    main()

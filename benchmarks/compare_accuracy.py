"""Trains carat, and the same network in PyG's own training loop, with the same settings over the same seeds or splits.

    python benchmarks/compare_accuracy.py cora chameleon MUTAG --runs 10
    python benchmarks/compare_accuracy.py cora --settings mine.toml --no-pyg

For every dataset and preset it prints a row of docs/accuracy.md: test figures of carat and of PyG, mean and deviation.
A run is a seed where the dataset has one split, one of its splits where it has several, and a fold of ten where it is a
set of graphs. PyG gets carat's own data (`carat data convert`), the settings from `config.toml` of carat's run and the
same nodes to train, stop and test on, and then does what its users do: the whole graph (or shuffled batches of graphs)
through GATConv and its like, `cross_entropy`, `torch.optim`, and a look at the validation figure after every epoch.

Two things differ, and neither is a setting. Initial weights and dropout come from other random numbers, so runs do not
pair. And PyG's batch norm sees all nodes of the graph, carat's those that the step needs.

Every run is kept in a JSON file (`--results`) as it comes; a script that was stopped goes on where it was.
"""

import argparse
import csv
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from measuring import DEFAULT_CARAT, ROOT

# What a run without the setting has: carat leaves out of config.toml what has these values.
DEFAULTS = {
    "normalise": "none",
    "undirected": False,
    "self-loops": False,
    "edge-features": False,
    "optimiser": "adam",
    "weight-decay": 0.0,
    "schedule": "none",
    "class-weights": "none",
    "batch-size": 10_000,
    "select": "loss",
    "patience": 20,
    "patience-from": "start",
    "model": "attention",
}
# As in carat's crates/carat/src/selection.rs and settings/training.rs.
LEARNED, BEFORE_LEARNING = 0.95, 5
FOLDS = 10
# Sets of graphs have no splits of their own; these have several; every other dataset has one.
SETS = ("MUTAG", "PROTEINS", "NCI1")
SPLITS = {name: 10 for name in ("chameleon", "squirrel", "wisconsin", "cornell", "minesweeper")}
SPLITS |= {name: 10 for name in ("chameleon-filtered", "squirrel-filtered")}
# Read by another figure than accuracy.
FIGURES = {"minesweeper": "roc_auc"}


def runs_of(data, count):
    """The flags of every run, at most `count`."""
    if data in SETS:
        return [["--folds", str(FOLDS), "--split", str(run)] for run in range(min(count, FOLDS))]
    if data in SPLITS:
        return [["--split", str(run), "--seed", str(run)] for run in range(min(count, SPLITS[data]))]
    return [["--seed", str(run)] for run in range(count)]


def setting(config, name):
    """A value of config.toml, or its default where it is left out."""
    return config.get(name, DEFAULTS[name])


def spread(values, digits=3):
    """Mean and deviation as a cell of a table; a dash where there is nothing."""
    if not values:
        return "-"
    deviation = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{deviation}"


def row(data, preset, figure, ours, theirs):
    """A row of the table, from the test figures of both."""
    cells = [data, figure.replace("roc_auc", "ROC AUC"), preset, str(len(ours)), spread(ours), spread(theirs)]
    return f"| {' | '.join(cells)} |"


HEAD = "| dataset | figure | settings | runs | carat | PyG |\n|---|---|---|---|---|---|"


class Stopping:
    """Which epoch is the best, and when patience is over: carat's rule."""

    def __init__(self, config, epochs):
        self.patience = setting(config, "patience")
        waits = setting(config, "patience-from") == "learning"
        self.before_learning = self.patience * (BEFORE_LEARNING if waits else 1)
        self.epochs, self.epoch, self.best_epoch = epochs, 0, 0
        self.best, self.has_learned = (-math.inf, -math.inf), False

    def is_best(self, figure, loss, has_learned):
        """Finishes an epoch."""
        self.epoch += 1
        self.has_learned |= has_learned
        if math.isfinite(loss) and (figure, -loss) > self.best:
            self.best, self.best_epoch = (figure, -loss), self.epoch
            return True
        return False

    def is_over(self):
        patience = self.patience if self.has_learned else self.before_learning
        return self.epoch >= self.epochs or self.epoch - self.best_epoch >= patience


def roc_auc(scores, is_positive):
    """Area under the ROC curve of two lists; equal scores count half."""
    order = sorted(zip(scores, is_positive))
    rank, sum_of_ranks, at = 1, 0.0, 0
    while at < len(order):
        end = at
        while end < len(order) and order[end][0] == order[at][0]:
            end += 1
        mean_rank = rank + (end - at - 1) / 2
        sum_of_ranks += mean_rank * sum(1 for _, positive in order[at:end] if positive)
        rank, at = rank + end - at, end
    positives = sum(map(bool, is_positive))
    negatives = len(order) - positives
    return (sum_of_ranks - positives * (positives + 1) / 2) / (positives * negatives)


def selected_by(config, counts):
    """The figure that decides, by the training labels of every class: what carat's `auto` means."""
    choice = setting(config, "select")
    if choice != "auto":
        return choice
    return "auc" if len(counts) == 2 or max(counts) > 2 / 3 * sum(counts) else "accuracy"


def loss_of_shares(labels, counts, weights):
    """Cross-entropy of always predicting the classes' shares in training."""
    shares = [weight * (count + 1) for weight, count in zip(weights, counts)]
    total = sum(shares)
    sum_of_weights = sum(weights[label] for label in labels)
    return sum(-weights[label] * math.log(shares[label] / total) for label in labels) / sum_of_weights


class Results:
    """Every run's test figure by what was run, in a JSON file."""

    def __init__(self, path):
        self.path = path
        self.values = json.loads(path.read_text()) if path.exists() else {}

    def get(self, key, compute):
        if key not in self.values:
            self.values[key] = compute()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(self.values, indent=1))
            os.replace(new, self.path)
        return self.values[key]


def carat(arguments, command, *flags):
    """What a command of carat prints."""
    folder = ["--data-dir", arguments.data_dir] if arguments.data_dir else []
    done = subprocess.run([arguments.carat, *command, *flags, *folder], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def train_carat(arguments, data, flags, figure):
    """One run of carat: its test figure and its settings."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        flags = [*flags, "--threads", str(arguments.threads), "--json", "--out", str(run)]
        summary = json.loads(carat(arguments, ["train", "--data", data], *flags))
        return {"test": summary[f"test_{figure}"], "config": tomllib.loads((run / "config.toml").read_text())}


def parts_of(lines):
    """The nodes or graphs that a run trains, stops and tests on, from the lines of `carat predict`."""
    head, *rows = csv.reader(lines)
    entity, split = 0, head.index("split")
    return [[int(row[entity]) for row in rows if row[split] == part] for part in ("train", "val", "test")]


def train_pyg(arguments, data, flags, config, figure):
    """The same run in PyG: its test figure."""
    # Here, because only this needs torch.
    from accuracy_in_pyg import train

    with tempfile.TemporaryDirectory() as folder:
        run, predictions, graph = (Path(folder) / name for name in ("run", "predictions.csv", "graph.npz"))
        # A single epoch is enough to learn which nodes the run uses.
        carat(arguments, ["train", "--data", data], *flags, "--epochs", "1", "--json", "--out", str(run))
        carat(arguments, ["predict", "--run", str(run)], "--out", str(predictions))
        both_ways = ["--undirected"] if setting(config, "undirected") else []
        carat(arguments, ["data", "convert", data, str(graph)], *both_ways)
        with open(predictions, newline="") as lines:
            parts = parts_of(lines)
        return train(graph, config, parts, figure, arguments.threads, arguments.device)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help="names of the catalogue")
    parser.add_argument("--presets", nargs="+", default=["strong", "tuned"], metavar="PRESET")
    parser.add_argument("--settings", help="a file of settings in place of presets")
    parser.add_argument("--runs", type=int, default=10, help="most seeds, splits or folds of each")
    parser.add_argument("--pyg-runs", type=int, help="the same for PyG, which is slower (default: as many)")
    parser.add_argument("--no-pyg", action="store_true", help="carat alone; needs no torch")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else carat's own)")
    parser.add_argument("--carat", default=DEFAULT_CARAT, help="the binary")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", help="where PyG trains, like cuda (default: cpu)")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks/results/accuracy.json")
    arguments = parser.parse_args()
    results = Results(arguments.results)
    # Another binary, or other settings in the file, are other runs.
    files = [arguments.carat, *([arguments.settings] if arguments.settings else [])]
    version = " ".join(hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12] for file in files)
    of_pyg = 0 if arguments.no_pyg else arguments.pyg_runs or arguments.runs

    print(HEAD, flush=True)
    for data in arguments.data:
        figure = FIGURES.get(data, "accuracy")
        for preset in ["file"] if arguments.settings else arguments.presets:
            chosen = ["--config", arguments.settings] if arguments.settings else ["--preset", preset]
            ours, theirs = [], []
            for number, flags in enumerate(runs_of(data, arguments.runs)):
                flags = chosen + flags
                key = f"carat {version}, {figure}: {' '.join([data, *flags])}"
                run = results.get(key, lambda: train_carat(arguments, data, flags, figure))
                ours.append(run["test"])
                if number < of_pyg:
                    key = f"PyG, {figure}: {json.dumps(run['config'], sort_keys=True)}"
                    theirs.append(results.get(key, lambda: train_pyg(arguments, data, flags, run["config"], figure)))
            print(row(data, preset, figure, ours, theirs), flush=True)


if __name__ == "__main__":
    main()

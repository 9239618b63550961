"""Trains every variant of a study on the same data, seeds and splits, and keeps each run's figures as they come.

    python tools/study/variants.py study.toml results.jsonl --jobs 16
    python tools/study/variants.py study.toml results.jsonl --table

A study is a TOML file: `data` (a table of names and their flags), `arch`, `runs` (seeds or splits), `flags` for every
run, and `variants` (a table of names and their flags). A name of data may go on with a dot and a word of its own, so
that one dataset stands there with several flags. A run that stands in the file of results is not repeated.
`--table` prints validation figures, by which variants are chosen: mean differences from the variant `plain`.
`--report` prints test figures as Markdown, with paired tests of `--of` (the last variant) against the others.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

ROOT = Path(__file__).resolve().parents[2]
FIGURES = (
    "test_loss test_accuracy test_roc_auc faithfulness faithfulness_rank self_faithfulness self_faithfulness_rank "
    "faithfulness_last self_faithfulness_last deletion_share val_loss val_accuracy val_roc_auc val_faithfulness "
    "val_self_faithfulness attention_auc epochs train_seconds step_ms"
).split()
# Each dataset has one split, where runs are seeds, or ten, where they are splits.
ONE_SPLIT = ("cora", "citeseer", "pubmed")


def runs_of(study):
    """Every run as (data, kind, number, variant) with its flags; the numbers of all first, so that what was stopped
    has whole variants."""
    for number in range(study["runs"]):
        for data, of_data in study["data"].items():
            if number >= study.get("at_most", {}).get(data, study["runs"]):
                continue
            for arch in study["arch"]:
                for variant, of_variant in study["variants"].items():
                    split = ["--seed", str(number)]
                    if data.split(".")[0] not in ONE_SPLIT:
                        split += ["--split", str(number)]
                    flags = [study.get("flags", ""), of_data, of_variant]
                    yield (data, arch, number, variant), [*split, "--arch", arch, *" ".join(flags).split()]


def read(path):
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {tuple(line["run"]): line for line in lines}


def train(carat, data, flags):
    with tempfile.TemporaryDirectory() as folder:
        command = [carat, "train", "--data", data, *flags, "--threads", "1", "--json", "--out", f"{folder}/run"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    summary = json.loads(done.stdout)
    return {figure: summary.get(figure) for figure in FIGURES}


def compute(study, path, arguments):
    known, lock, start = read(path), Lock(), time.monotonic()

    def one(run):
        key, flags = run
        if time.monotonic() - start > arguments.seconds:
            return
        figures = train(arguments.carat, key[0].split(".")[0], flags)
        with lock, path.open("a") as file:
            file.write(json.dumps({"run": key, "figures": figures}) + "\n")

    runs = [run for run in runs_of(study) if run[0] not in known]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(one, runs))


def mean(values):
    values = [value for value in values if value is not None]
    return statistics.mean(values) if values else float("nan")


def table(study, known):
    figures = ("val_faithfulness", "val_self_faithfulness", "val_loss", "val_accuracy", "val_roc_auc")
    for data in study["data"]:
        figure = lambda key, name: known[key]["figures"][name]  # noqa: E731
        print(f"\n{data:14} {'runs':>4} {' '.join(f'{name[4:]:>17}' for name in figures)}")
        for variant in study["variants"]:
            keys = [key for key in known if key[0] == data and key[3] == variant]
            pairs = [(key, (*key[:3], "plain")) for key in keys if (*key[:3], "plain") in known]
            cells = []
            for name in figures:
                value = mean(figure(key, name) for key, _ in pairs)
                differences = (
                    figure(key, name) - figure(base, name)
                    for key, base in pairs
                    if None not in (figure(key, name), figure(base, name))
                )
                cells.append(f"{value:8.3f} {mean(differences):+8.3f}")
            print(f"{variant:14} {len(pairs):4} {' '.join(cells)}")


REPORTED = {
    "Faithfulness": ("faithfulness", "greater"),
    "Self-faithfulness": ("self_faithfulness", "greater"),
    "Accuracy (minesweeper: ROC AUC)": ("test_accuracy", "two-sided"),
    "Loss": ("test_loss", "two-sided"),
    "Seconds of a training on one core": ("train_seconds", None),
}


def holm(values):
    """Holm's adjustment of p values by name."""
    adjusted, largest = {}, 0.0
    for rank, (name, p) in enumerate(sorted(values.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(values) - rank) * p))
        adjusted[name] = largest
    return adjusted


def report(study, known, best):
    """Means over kinds and runs. A pair is a kind and a run; p values are adjusted over the datasets."""
    from scipy.stats import wilcoxon

    variants = list(study["variants"])
    others = [variant for variant in variants if variant != best]
    for title, (figure, tail) in REPORTED.items():
        rows, tests = {}, {other: {} for other in others}
        for data in study["data"]:
            name = "test_roc_auc" if (data, figure) == ("minesweeper", "test_accuracy") else figure
            of = {
                variant: {key[1:3]: run["figures"][name] for key, run in known.items() if key[::3] == (data, variant)}
                for variant in variants
            }
            pairs = [pair for pair in of[best] if all(of[variant].get(pair) is not None for variant in variants)]
            if not pairs:
                continue
            means = [f"{mean(of[variant][pair] for pair in pairs):.3f}" for variant in variants]
            rows[data] = [str(len(pairs)), *means]
            for other in tests if tail else ():
                differences = [of[best][pair] - of[other][pair] for pair in pairs]
                tests[other][data] = wilcoxon(differences, alternative=tail).pvalue if any(differences) else 1.0
        adjusted = {other: holm(values) for other, values in tests.items()}
        shown = [f"p, than {other}" for other in others] if tail else []
        print(f"\n**{title}**\n\n| data | pairs | {' | '.join(variants + shown)} |")
        print("|---" * (2 + len(variants) + len(shown)) + "|")
        for data, cells in rows.items():
            ps = [f"{adjusted[other][data]:.2g}" for other in others] if tail else []
            print(f"| {data} | {' | '.join(cells + ps)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--table", action="store_true", help="train nothing; print what is known")
    parser.add_argument("--report", action="store_true", help="train nothing; print test figures and tests (scipy)")
    parser.add_argument("--of", metavar="VARIANT", help="with --report: the variant that is tested")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no run after so many")
    parser.add_argument("--carat", default=str(ROOT / "target/release/carat"))
    arguments = parser.parse_args()
    study = tomllib.loads(arguments.study.read_text())
    if arguments.report:
        return report(study, read(arguments.results), arguments.of or list(study["variants"])[-1])
    if not arguments.table:
        compute(study, arguments.results, arguments)
    table(study, read(arguments.results))


if __name__ == "__main__":
    main()

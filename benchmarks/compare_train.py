"""Trains carat and PyG with the same settings over many seeds and compares test loss and accuracy as distributions.

Seeds draw other numbers in the two programs, so runs do not pair; the last column tells by how many standard errors the
two means differ. Beyond about 3 something is wrong.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import torch

import pyg_train
from pyg_train import load

ROOT = Path(__file__).resolve().parents[1]


def train_carat(binary, arguments, setting, seed, folder):
    arch, hidden, heads, layers = setting.split(":")
    command = [binary, "train", "--preset", "paper", "--data", arguments.data]
    command += ["--arch", arch, "--hidden", hidden, "--heads", heads]
    command += ["--layers", layers, "--seed", str(seed), "--patience", "20", "--json"]
    command += ["--out", str(Path(folder) / f"{setting.replace(':', '-')}-{seed}")]
    if arguments.data_dir:
        command += ["--data-dir", arguments.data_dir]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", default=pyg_train.DEFAULT_SETTINGS, help="arch:hidden:heads:layers ...")
    parser.add_argument("--data", default="cora", help="cora, citeseer, pubmed or an .npz")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--seeds", type=int, default=10, help="seeds of each program")
    parser.add_argument("--carat", default=str(ROOT / "target" / "release" / "carat"), help="the binary")
    arguments = parser.parse_args()

    torch.set_num_threads(2)
    data = load(arguments.data, arguments.data_dir)
    print("| arch | F / K / L | figure | carat | PyG | difference in standard errors |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for setting in arguments.settings:
            seeds = range(arguments.seeds)
            ours = [train_carat(arguments.carat, arguments, setting, seed, folder) for seed in seeds]
            theirs = [pyg_train.train(data, setting, seed) for seed in seeds]
            arch, *sizes = setting.split(":")
            for key in ("test_loss", "test_accuracy"):
                a, b = [run[key] for run in ours], [run[key] for run in theirs]
                error = (statistics.variance(a) / len(a) + statistics.variance(b) / len(b)) ** 0.5
                spread = [f"{statistics.mean(v):.3f} ± {statistics.stdev(v):.3f}" for v in (a, b)]
                difference = (statistics.mean(a) - statistics.mean(b)) / error
                print(
                    f"| {arch} | {' / '.join(sizes)} | {key} | {spread[0]} | {spread[1]} | {difference:+.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()

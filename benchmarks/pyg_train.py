"""Trains the PyG network with carat's protocol `best`, over several seeds, to compare distributions of results.

Adam (lr 0.01), full batches, at most 400 epochs; stop after 20 epochs without a new lowest validation loss and keep
that epoch's weights. With `--lambda` above 0 every step is the CAR step of `pyg_step.py`, five rounds.
Prints a Markdown table; `--out` keeps every seed's figures as JSON.
"""

import argparse
import copy
import json
import statistics
import sys
import time
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

from pyg_step import training_steps

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools" / "pyg"))
from data import load  # noqa: E402
from network import Network  # noqa: E402

DEFAULT_SETTINGS = ["gat:100:3:2", "gat:25:3:1", "gatv2:100:3:1"]


def losses(network, data, nodes):
    """Mean cross-entropy and accuracy over the given nodes."""
    with torch.no_grad():
        logits = network(data.x, data.edge_index)[nodes]
    labels = data.y[nodes]
    return float(cross_entropy(logits, labels)), float((logits.argmax(dim=1) == labels).float().mean())


def train(data, setting, seed, epochs=400, patience=20, strength=0.0):
    """One run; returns the figures of the kept weights, and the seconds that training took, evaluations included."""
    kind, hidden, heads, layers = setting.split(":")
    torch.manual_seed(seed)
    network = Network(kind, data.x.shape[1], data.num_classes, int(hidden), int(heads), int(layers))
    plain_step, car_step = training_steps(network, data.x, data.edge_index, data.y, data.train, 5, strength)
    step = car_step if strength > 0.0 else plain_step
    began = time.perf_counter()
    best, best_epoch, kept = float("inf"), 0, None
    for epoch in range(1, epochs + 1):
        step()
        loss, _ = losses(network, data, data.val)
        if loss < best:
            best, best_epoch, kept = loss, epoch, copy.deepcopy(network.state_dict())
        elif epoch - best_epoch >= patience:
            break
    seconds = time.perf_counter() - began
    network.load_state_dict(kept)
    test_loss, test_accuracy = losses(network, data, data.test)
    return {
        "seed": seed,
        "test_loss": test_loss,
        "test_accuracy": test_accuracy,
        "val_loss": best,
        "best_epoch": best_epoch,
        "epochs": epoch,
        "seconds": seconds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", default=DEFAULT_SETTINGS, help="arch:hidden:heads:layers ...")
    parser.add_argument("--data", default="cora", help="cora, citeseer, pubmed or an .npz")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--lambda", dest="strength", type=float, default=0.0, help="strength of CAR")
    parser.add_argument("--epochs", type=int, default=400, help="most epochs")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="write every seed's figures to this JSON file")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    data = load(arguments.data, arguments.data_dir)
    runs = {}
    print("| arch | F / K / L | test loss | test accuracy | epochs |\n|---|---|---|---|---|")
    for setting in arguments.settings:
        runs[setting] = [
            train(data, setting, seed, arguments.epochs, strength=arguments.strength) for seed in range(arguments.seeds)
        ]

        def spread(key, digits):
            values = [run[key] for run in runs[setting]]
            deviation = statistics.stdev(values) if len(values) > 1 else 0.0
            return f"{statistics.mean(values):.{digits}f} ± {deviation:.{digits}f}"

        kind, *sizes = setting.split(":")
        cells = [kind, " / ".join(sizes), spread("test_loss", 3), spread("test_accuracy", 3), spread("epochs", 0)]
        print(f"| {' | '.join(cells)} |", flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps({"data": data.name, "runs": runs}, indent=1))


if __name__ == "__main__":
    main()

"""Checks a carat run against PyTorch Geometric: the same weights must give the same predictions and attention.

    carat predict   --run DIR --out predictions.csv
    carat attention --run DIR --out attention.csv
    python tools/pyg/check_model.py --run DIR --predictions predictions.csv [--attention attention.csv]

Loads DIR/model.safetensors into the PyG network with strict=True and exits with 1 if any probability or attention
weight differs by more than 1e-4, or with 2 if the input does not fit together.
"""

import argparse
import csv
import sys
import tomllib
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

sys.path.insert(0, str(Path(__file__).resolve().parent))
from data import load  # noqa: E402
from network import Network  # noqa: E402

TOLERANCE = 1e-4


def refuse(message):
    print(f"check_model: {message}", file=sys.stderr)
    raise SystemExit(2)


def check_data(config, x):
    """Refuses runs whose settings change the data: their networks have met other features or edges than PyG does."""
    for name in ("undirected", "self-loops"):
        if config.get(name, False):
            refuse(f"the run has {name}; train on data that is so already")
    how = config.get("normalise", "none")
    is_scaled = not bool(((x == 0) | (x == 1)).all()) if how == "auto" else how != "none"
    if is_scaled:
        refuse("the run scales its features; train with --normalise none")


def read_columns(path):
    """A CSV as a dict of string columns."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return dict(zip(rows[0], zip(*rows[1:])))


def numbers(table, name, path, kind=float):
    if name not in table:
        refuse(f"{path} has no column '{name}'")
    return np.array(table[name], dtype=kind)


def check_predictions(path, logits):
    """Largest difference between the CSV's probabilities and PyG's."""
    table = read_columns(path)
    nodes = numbers(table, "node", path, np.int64)
    ours = np.stack([numbers(table, f"p_{k}", path) for k in range(logits.shape[1])], axis=1)
    if sorted(nodes) != list(range(logits.shape[0])):
        refuse(f"{path} does not list each of the {logits.shape[0]} nodes once")
    theirs = torch.softmax(logits, dim=1).numpy()[nodes]
    predicted = numbers(table, "predicted", path, np.int64)
    print(f"predictions: {len(nodes)} nodes, {(predicted != theirs.argmax(axis=1)).sum()} predicted classes differ")
    return float(np.abs(ours - theirs).max())


def check_attention(path, edge_index, attention, num_nodes):
    """Largest difference between the CSV's attention and PyG's, over edges, layers and heads."""
    table = read_columns(path)
    src, dst, layer, head = (numbers(table, name, path, np.int64) for name in ("src", "dst", "layer", "head"))
    alpha = numbers(table, "alpha", path)
    theirs = torch.stack(attention).numpy()  # [L, E, K]
    if len(alpha) != theirs.size:
        refuse(f"{path} has {len(alpha)} rows; edges x layers x heads are {theirs.size}")
    # Edges are ordered by (target, source), so a combined key finds each row's edge by bisection.
    keys = edge_index[1].numpy() * num_nodes + edge_index[0].numpy()
    wanted = dst * num_nodes + src
    edge = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    if (keys[edge] != wanted).any():
        refuse(f"{path} has an edge that is not in the graph")
    if len(np.unique((edge * theirs.shape[0] + layer) * theirs.shape[2] + head)) != theirs.size:
        refuse(f"{path} repeats or leaves out an edge, layer or head (both are numbered from 0)")
    print(f"attention: {len(keys)} edges x {theirs.shape[0]} layers x {theirs.shape[2]} heads")
    return float(np.abs(alpha - theirs[layer, edge, head]).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="carat run folder")
    parser.add_argument("--predictions", type=Path, required=True, help="CSV written by `carat predict`")
    parser.add_argument("--attention", type=Path, help="CSV written by `carat attention`")
    parser.add_argument("--data", help="cora, citeseer, pubmed or an .npz (default: the run's)")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    arguments = parser.parse_args()

    config = tomllib.loads((arguments.run / "config.toml").read_text())
    data = load(arguments.data or config["data"], arguments.data_dir)
    check_data(config, data.x)
    weights = load_file(arguments.run / "model.safetensors")
    network = Network.of_config(config, data.x.shape[1], weights["classifier.bias"].shape[0])
    try:
        network.load_state_dict(weights, strict=True)
    except RuntimeError as error:
        refuse(error)
    # f64, so that what is measured is carat's rounding alone; predictions drop nothing.
    network.double().eval()
    with torch.no_grad():
        logits, attention = network.forward_with_attention(data.x.double(), data.edge_index)

    worst = check_predictions(arguments.predictions, logits)
    print(f"max |p - p_pyg| = {worst:.3g}")
    if arguments.attention:
        difference = check_attention(arguments.attention, data.edge_index, attention, data.x.shape[0])
        print(f"max |alpha - alpha_pyg| = {difference:.3g}")
        worst = max(worst, difference)
    # `not <=` also catches NaN.
    if not worst <= TOLERANCE:
        print(f"FAILED: differs by more than {TOLERANCE}")
        raise SystemExit(1)
    print("agrees")


if __name__ == "__main__":
    main()

"""Times what an epoch of every network of the paper's grid costs PyG on Cora: a plain step, a CAR step, an evaluation.

Prints one JSON document with a row per network. `training.py` multiplies the rows with the epochs that the trainings
of the grid take.
"""

import argparse
import itertools
import json
import statistics
import sys
import time

import torch

from pyg_step import KINDS, Network, load, time_steps, training_steps

# The grid of the paper, as in `carat sweep --grid paper`.
LAYERS, HEADS, HIDDEN = (1, 2), (1, 3, 5), (10, 25, 100, 200)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="cora", help="cora, citeseer, pubmed or an .npz")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5, help="how long each kind of step is timed")
    parser.add_argument("--networks", type=int, help="only the first so many networks, to try the script")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    data = load(arguments.data, arguments.data_dir)
    networks = list(itertools.product(KINDS, LAYERS, HEADS, HIDDEN))[: arguments.networks]
    rows, began = [], time.perf_counter()
    for arch, layers, heads, hidden in networks:
        network = Network(arch, data.x.shape[1], data.num_classes, hidden, heads, layers)
        step, car_step = training_steps(network, data.x, data.edge_index, data.y, data.train, 5, 1.0)

        # One pass gives the figures of validation and test nodes.
        @torch.no_grad()
        def evaluation():
            network(data.x, data.edge_index)

        row = {"arch": arch, "layers": layers, "heads": heads, "hidden": hidden}
        for name, work in (("step_ms", step), ("car_step_ms", car_step), ("evaluation_ms", evaluation)):
            row[name] = statistics.median(time_steps(work, 2, 3, arguments.seconds, 10.0 * arguments.seconds))
        rows.append(row)
        left = (time.perf_counter() - began) / len(rows) * (len(networks) - len(rows))
        print(
            f"  PyG {arch} {hidden}/{heads}/{layers}: {row['step_ms']:.1f} ms, about {left:.0f} s left", file=sys.stderr
        )
    print(json.dumps({"threads": arguments.threads, "torch": torch.__version__, "rows": rows}))


if __name__ == "__main__":
    main()

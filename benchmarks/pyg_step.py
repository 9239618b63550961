"""Times PyG's full training step on CPU: zero_grad, forward, cross-entropy on the training nodes, backward, Adam.

Prints one JSON document. With `--receptive-field` the graph is first cut by hand, outside the timing, to what the
training loss depends on, which PyG does not do by itself.
"""

import argparse
import json
import resource
import statistics
import sys
import time
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools" / "pyg"))
from data import load  # noqa: E402
from network import KINDS, Network  # noqa: E402


def receptive_field(edge_index, targets, hops, num_nodes):
    """Nodes within `hops` in-hops of the targets, and the edges into nodes within `hops - 1`, relabelled.

    Returns (nodes, edges): `nodes[k]` is the old id of new node k.
    """
    reached = torch.zeros(num_nodes, dtype=torch.bool)
    reached[targets] = True
    into = torch.zeros(edge_index.shape[1], dtype=torch.bool)
    for _ in range(hops):
        into = reached[edge_index[1]]
        reached[edge_index[0, into]] = True
    nodes = reached.nonzero().flatten()
    new_id = torch.full((num_nodes,), -1)
    new_id[nodes] = torch.arange(len(nodes))
    return nodes, new_id[edge_index[:, into]]


def reset_peak_memory():
    """Forgets the peak so far, so that reading the data does not count. Linux only; elsewhere the peak stays whole."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def peak_memory_mb():
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="cora", help="cora, citeseer, pubmed or an .npz")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--arch", choices=KINDS, default="gat")
    parser.add_argument("--hidden", type=int, default=100)
    parser.add_argument("--heads", type=int, default=3)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--receptive-field", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warm-up", type=int, default=3, help="steps before the timing starts")
    parser.add_argument("--min-steps", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0, help="go on timing steps for this long")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    idle = peak_memory_mb()
    data = load(arguments.data, arguments.data_dir)
    x, edge_index, y, train = data.x, data.edge_index, data.y, data.train
    if arguments.receptive_field:
        nodes, edge_index = receptive_field(edge_index, train, arguments.layers, x.shape[0])
        x, y = x[nodes], y[nodes]
        train = torch.searchsorted(nodes, train)
    classes = data.num_classes
    del data
    network = Network(arguments.arch, x.shape[1], classes, arguments.hidden, arguments.heads, arguments.layers)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)

    def step():
        optimiser.zero_grad()
        loss = cross_entropy(network(x, edge_index)[train], y[train])
        loss.backward()
        optimiser.step()

    reset_peak_memory()
    for _ in range(arguments.warm_up):
        step()
    times, began = [], time.perf_counter()
    while len(times) < arguments.min_steps or time.perf_counter() - began < arguments.seconds:
        start = time.perf_counter()
        step()
        times.append(1000.0 * (time.perf_counter() - start))
    result = {
        "step_ms": statistics.median(times),
        "fastest_step_ms": min(times),
        "steps": len(times),
        "peak_memory_mb": peak_memory_mb(),
        "memory_after_import_mb": idle,
        "nodes": x.shape[0],
        "edges": edge_index.shape[1],
        "torch": torch.__version__,
        "threads": arguments.threads,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()

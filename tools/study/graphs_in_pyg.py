"""What PyG's networks come to on a set of graphs, to tell whether a figure of carat's is the network's or a bug's.

    python tools/study/graphs_in_pyg.py --set NCI1 --folds 3

Four networks with the sizes and the training of `carat reproduce graphs` (L 2, K 1, F 32, Adam, batches of 64, the
epoch of the best validation loss):

    carat's    no nonlinearity between the layers, the sum over the nodes before the LeakyReLU
    no edges   the encoder alone, summed over the nodes: what the nodes tell without the graph
    per node   carat's, with a LeakyReLU after every layer, and so one before the sum
    GIN        two GINConv layers with such LeakyReLUs, which sum messages instead of weighing them to one

The first tenth of the graphs of a shuffled, stratified order tests, the next one stops, and so on for every fold.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy, leaky_relu

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pyg"))
from data import data_folder  # noqa: E402
from network import Network, global_add_pool  # noqa: E402
from torch_geometric.nn import GINConv  # noqa: E402

HIDDEN = 32


class PerNode(Network):
    def forward(self, x, edge_index, batch, graphs):
        hidden = state = leaky_relu(self.encoder(x), 0.01)
        for layer in self.layers:
            state = leaky_relu(layer(state, edge_index), 0.01)
        return self.read_out(hidden, state, batch, graphs)


class Gin(PerNode):
    def __init__(self, *arguments, **sizes):
        super().__init__(*arguments, **sizes)
        width = sizes["hidden"]
        self.layers = torch.nn.ModuleList(GINConv(torch.nn.Linear(width, width)) for _ in self.layers)


class NoEdges(Network):
    def forward(self, x, edge_index, batch, graphs):
        hidden = leaky_relu(self.encoder(x), 0.01)
        return self.classifier(leaky_relu(global_add_pool(torch.cat([hidden, hidden], dim=1), batch, graphs), 0.01))


NETWORKS = {"carat's": Network, "no edges": NoEdges, "per node": PerNode, "GIN": Gin}


def read(name, folder):
    """A TUDataset of node labels: features (one-hot labels), edges, the graph of every node, the graphs' classes."""
    base = folder / "tudataset" / name / name
    if not base.parent.is_dir():
        base = folder / "tudataset" / name
    numbers = lambda what: np.loadtxt(f"{base}_{what}.txt", dtype=np.int64, delimiter=",")  # noqa: E731
    labels = numbers("node_labels")
    x = torch.eye(int(labels.max()) + 1)[torch.from_numpy(labels)]
    edges = torch.from_numpy(numbers("A").T - 1)
    classes = torch.from_numpy(np.unique(numbers("graph_labels"), return_inverse=True)[1])
    return x, edges, torch.from_numpy(numbers("graph_indicator") - 1), classes


class Batches:
    """The set, cut into batches of graphs."""

    def __init__(self, x, edges, graph, classes):
        self.classes = classes
        starts = torch.searchsorted(graph, torch.arange(len(classes) + 1))
        of_edge = graph[edges[1]]
        order = torch.argsort(of_edge, stable=True)
        edge_starts = torch.searchsorted(of_edge[order], torch.arange(len(classes) + 1))
        edges = edges[:, order]
        self.graphs = [
            (x[starts[g] : starts[g + 1]], edges[:, edge_starts[g] : edge_starts[g + 1]] - starts[g])
            for g in range(len(classes))
        ]

    def of(self, chosen):
        parts = [self.graphs[g] for g in chosen.tolist()]
        sizes = torch.tensor([len(x) for x, _ in parts])
        shifts = torch.cumsum(sizes, 0) - sizes
        edges = torch.cat([edges + shift for (_, edges), shift in zip(parts, shifts)], dim=1)
        batch = torch.repeat_interleave(torch.arange(len(parts)), sizes)
        return torch.cat([x for x, _ in parts]), edges, batch, len(parts)


def folds_of(classes, seed, count=10):
    """The graphs of each fold, every class shared out evenly."""
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(classes), generator=generator)
    order = order[torch.argsort(classes[order], stable=True)]
    return [order[fold::count] for fold in range(count)]


def train(kind, batches, parts, arguments, seed):
    """Test accuracy at the epoch of the best validation loss."""
    test, validation, training = parts
    torch.manual_seed(seed)
    features = batches.graphs[0][0].shape[1]
    network = NETWORKS[kind]("gat", features, int(batches.classes.max()) + 1, hidden=HIDDEN, heads=1, layers=2)
    optimiser = torch.optim.Adam(network.parameters(), lr=arguments.lr)
    held = {name: (batches.of(part), batches.classes[part]) for name, part in (("val", validation), ("test", test))}
    best, accuracy = float("inf"), 0.0
    for _ in range(arguments.epochs):
        for some in torch.split(training[torch.randperm(len(training))], arguments.batch_size):
            optimiser.zero_grad()
            cross_entropy(network(*batches.of(some)), batches.classes[some]).backward()
            optimiser.step()
        with torch.no_grad():
            scores = {name: (network(*inputs), classes) for name, (inputs, classes) in held.items()}
        loss = cross_entropy(*scores["val"]).item()
        if loss < best:
            logits, classes = scores["test"]
            best, accuracy = loss, (logits.argmax(1) == classes).float().mean().item()
    return accuracy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="NCI1", help="MUTAG or NCI1: a set whose nodes have labels and nothing else")
    parser.add_argument("--folds", type=int, default=10, help="how many of the ten folds")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    batches = Batches(*read(arguments.set, data_folder(arguments.data_dir)))
    folds = folds_of(batches.classes, seed=0)
    for kind in arguments.networks:
        found = []
        for fold in range(arguments.folds):
            test, validation = folds[fold], folds[(fold + 1) % len(folds)]
            rest = [part for at, part in enumerate(folds) if at not in (fold, (fold + 1) % len(folds))]
            found.append(train(kind, batches, (test, validation, torch.cat(rest)), arguments, fold))
            print(f"{kind}, fold {fold}: {found[-1]:.3f}", file=sys.stderr, flush=True)
        print(f"{kind}: {np.mean(found):.3f} ± {np.std(found, ddof=1):.3f} over {len(found)} folds", flush=True)


if __name__ == "__main__":
    main()

"""Writes the golden file of gates (PyG's edge masks) and of GNNExplainer, from PyTorch Geometric in float64.

    python tools/golden/make_gates_golden.py [--out crates/carat-nn/tests/golden]

The networks and the graph are those of the files small_*, which make_golden.py writes.
"""

import argparse
import warnings
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch.nn.functional import cross_entropy

from common import CONFIGS, HIDDEN, ROOT, small_graph, write
from network import Network

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch_geometric.explain import Explainer, GNNExplainer
    from torch_geometric.explain.algorithm.utils import clear_masks, set_masks

FOLDER = ROOT / "crates" / "carat-nn" / "tests" / "golden"
# A hub, a node with a self-loop, and another.
EXPLAINED = (12, 9, 5)


class FromGiven(GNNExplainer):
    """GNNExplainer that starts from a given mask."""

    initial = None

    def _initialize_masks(self, x, edge_index):
        self.node_mask = self.hard_node_mask = self.hard_edge_mask = None
        self.edge_mask = torch.nn.Parameter(self.initial.clone())


def stored_network(kind, heads, layers, features, classes):
    network = Network(kind, features, classes, HIDDEN, heads, layers)
    stored = load_file(FOLDER / f"small_{kind}_k{heads}_l{layers}.safetensors")
    network.load_state_dict({name[6:]: value for name, value in stored.items() if name.startswith("param.")})
    return network.double().eval()


def gate_gradient(network, x, edge_index, y, train, gates):
    """Of the mean cross-entropy over the training nodes."""
    mask = torch.nn.Parameter(gates.clone())
    set_masks(network, mask, edge_index, apply_sigmoid=False)
    loss = cross_entropy(network(x, edge_index)[train], y[train])
    loss.backward()
    clear_masks(network)
    return loss.detach(), mask.grad


def learned_mask(network, x, edge_index, node, initial):
    algorithm = FromGiven(epochs=100, lr=0.01)
    algorithm.initial = initial
    config = {"mode": "multiclass_classification", "task_level": "node", "return_type": "raw"}
    explainer = Explainer(network, algorithm, "model", config, edge_mask_type="object")
    return explainer(x, edge_index, index=node).edge_mask


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=FOLDER)
    out = parser.parse_args().out
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    edge_index, x, y, train = small_graph()
    generator = torch.Generator().manual_seed(90)
    gates = 0.2 + torch.rand(edge_index.shape[1], generator=generator)
    initial = 0.3 * torch.randn(edge_index.shape[1], generator=generator)
    tensors = {"gates": gates, "initial": initial, "explained": torch.tensor(EXPLAINED)}
    for kind, heads, layers in CONFIGS:
        name = f"{kind}_k{heads}_l{layers}"
        network = stored_network(kind, heads, layers, x.shape[1], int(y.max()) + 1)
        loss, gradient = gate_gradient(network, x.double(), edge_index, y, train, gates.double())
        tensors |= {f"loss.{name}": loss, f"grad.{name}": gradient}
        masks = [learned_mask(network, x.double(), edge_index, node, initial.double()) for node in EXPLAINED]
        tensors[f"learned.{name}"] = torch.stack(masks)
    write(out / "gates.safetensors", tensors)


if __name__ == "__main__":
    main()

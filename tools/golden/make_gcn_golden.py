"""Writes the golden files of the graph convolution network, from PyTorch Geometric in float64.

    python tools/golden/make_gcn_golden.py [--data-dir D] [--out crates/carat-nn/tests/golden]

Rounding, seeds and the graphs are those of make_golden.py, whose files hold the small graph and Cora's encoder.
"""

import sys

import torch
from safetensors.torch import load_file
from torch.nn.functional import cross_entropy

from common import ROOT, run, seeded_network, small_graph, write

sys.path.insert(0, str(ROOT / "tools" / "pyg"))
from data import read_planetoid  # noqa: E402
from network import CONVOLUTIONS  # noqa: E402

CONFIGS = [(kind, layers) for kind in CONVOLUTIONS for layers in (1, 2)]


def evaluated(network, x, edge_index, y, train):
    """Every parameter, the logits, the loss over the training nodes and its gradients."""
    logits = network(x.double(), edge_index)
    loss = cross_entropy(logits[train], y[train])
    loss.backward()
    tensors = {f"param.{name}": parameter.detach() for name, parameter in network.named_parameters()}
    tensors |= {f"grad.{name}": parameter.grad for name, parameter in network.named_parameters()}
    return tensors | {"logits": logits.detach(), "loss": loss.detach()}


def write_small(out):
    edge_index, x, y, train = small_graph()
    for seed, (kind, layers) in enumerate(CONFIGS):
        network = seeded_network(kind, 1, layers, x.shape[1], int(y.max()) + 1, 400 + seed)
        write(out / f"small_{kind}_l{layers}.safetensors", evaluated(network, x, edge_index, y, train))


def write_cora(out, folder):
    cora = read_planetoid(folder / "planetoid", "cora")
    encoder = load_file(ROOT / "crates/carat-nn/tests/golden/cora_encoder.safetensors")
    encoder = {name.removeprefix("param.encoder."): tensor.double() for name, tensor in encoder.items()}
    generator = torch.Generator().manual_seed(31)
    nodes = torch.randperm(cora.x.shape[0], generator=generator)[:100].sort().values
    for seed, (kind, layers) in enumerate(CONFIGS):
        network = seeded_network(kind, 1, layers, cora.x.shape[1], cora.num_classes, 500 + seed)
        network.encoder.load_state_dict(encoder)
        tensors = evaluated(network, cora.x, cora.edge_index, cora.y, cora.train)
        del tensors["param.encoder.weight"], tensors["param.encoder.bias"], tensors["grad.encoder.weight"]
        tensors |= {"logit_nodes": nodes, "logits": tensors["logits"][nodes]}
        write(out / f"cora_{kind}_l{layers}.safetensors", tensors)


if __name__ == "__main__":
    run(__doc__, "crates/carat-nn/tests/golden", "*_gcn_*.safetensors", write_small, write_cora)

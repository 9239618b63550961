"""Writes the golden files of SuperGAT's edge prediction, from PyG in float64.

    python tools/golden/make_supergat_golden.py [--out crates/carat/tests/golden]

An encoder and one SuperGATConv with scaled dot-product scores, on the small graph: its attention loss over all edges
and some pairs without one, and the gradients.
"""

import argparse
import warnings
from pathlib import Path

import torch

from common import HIDDEN, ROOT, small_graph, write

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch_geometric.nn import SuperGATConv

HEADS = 2


def write_layer(path, concat, seed):
    torch.manual_seed(seed)
    edge_index, x, _, _ = small_graph()
    nodes = x.shape[0]
    encoder = torch.nn.Linear(x.shape[1], HIDDEN)
    width = HIDDEN // HEADS if concat else HIDDEN
    conv = SuperGATConv(
        HIDDEN, width, heads=HEADS, concat=concat, attention_type="SD", add_self_loops=False, edge_sample_ratio=1.0
    )
    edges = set(zip(*edge_index.tolist()))
    pairs = torch.randint(nodes, (2, 200)).T.tolist()
    others = [(i, j) for i, j in pairs if i != j and (i, j) not in edges and (j, i) not in edges]
    neg_edge_index = torch.tensor(others).T.contiguous()
    # Rounded to 32 bits before, so that the file stores the weights exactly.
    encoder, conv = encoder.double(), conv.double()
    h = torch.nn.functional.leaky_relu(encoder(x.double()), 0.01)
    conv.train()
    conv(h, edge_index, neg_edge_index)
    loss = conv.get_attention_loss()
    loss.backward()
    tensors = {"neg_edge_index": neg_edge_index, "loss": loss.detach()}
    for name, parameter in [*encoder.named_parameters(prefix="encoder"), ("lin.weight", conv.lin.weight)]:
        tensors |= {f"param.{name}": parameter.detach(), f"grad.{name}": parameter.grad}
    write(path, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "crates/carat/tests/golden")
    out = parser.parse_args().out
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    write_layer(out / "supergat_concat.safetensors", True, 900)
    write_layer(out / "supergat_mean.safetensors", False, 901)


if __name__ == "__main__":
    main()

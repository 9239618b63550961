"""Writes the golden files of attention layers with edge features, heads side by side and dropout, from PyG in float64.

    python tools/golden/make_attention_golden.py [--out crates/carat-nn/tests/golden]

Single layers on the small graph. The masks of dropout are those of carat (crates/carat-nn/src/modules/dropout.rs).
"""

import argparse
import warnings
from pathlib import Path

import torch

from common import ROOT, small_graph, write

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch_geometric.nn import GATConv, GATv2Conv, TransformerConv

WIDTH, FEATURES, RATE = 16, 3, 0.4
# carat's Masks::new(SEED, STEP).at(PLACE, RATE)
SEED, STEP, PLACE = 7, 3, 5
WORD = 2**64 - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def mix32(x):
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    x = ((x ^ (x >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return x ^ (x >> 16)


def masks(rows, columns):
    """0 or 1 / (1 - RATE) for every row and column."""
    place = mix(mix(mix(SEED) ^ STEP) ^ mix(PLACE))
    result = torch.zeros(rows, columns, dtype=torch.float64)
    for row in range(rows):
        key = mix(place ^ row)
        for column in range(columns):
            number = mix32(mix32(((key & 0xFFFFFFFF) + column * 0x9E3779B9) & 0xFFFFFFFF) ^ (key >> 32))
            result[row, column] = 0.0 if number < int(RATE * 2**32) else 1.0 / (1.0 - RATE)
    return result


def layer(kind, heads, concat, edge_dim):
    width = WIDTH // heads if concat else WIDTH
    if kind == "transformer":
        return TransformerConv(WIDTH, width, heads=heads, concat=concat, edge_dim=edge_dim)
    convolution = {"gat": GATConv, "gatv2": GATv2Conv}[kind]
    return convolution(WIDTH, width, heads=heads, concat=concat, edge_dim=edge_dim, add_self_loops=False)


def evaluated(conv, h, edge_index, edge_attr, d_out, mask):
    """Parameters, output, attention, and the gradients of sum(output * d_out). `mask` takes the place of dropout's."""
    h = h.clone().requires_grad_()
    functional = torch.nn.functional
    original = functional.dropout
    functional.dropout = lambda alpha, p=0.5, training=True: alpha * mask
    try:
        out, (_, alpha) = conv(h, edge_index, edge_attr, return_attention_weights=True)
    finally:
        functional.dropout = original
    (out * d_out).sum().backward()
    tensors = {"out": out, "grad.h": h.grad}
    if bool((mask == 1).all()):
        tensors["alpha"] = alpha
    for name, parameter in conv.named_parameters():
        tensors |= {f"param.{name}": parameter, f"grad.{name}": parameter.grad}
    conv.zero_grad()
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


def write_layer(path, kind, heads, concat, edge_dim, seed):
    torch.manual_seed(seed)
    edge_index, _, _, _ = small_graph()
    conv = layer(kind, heads, concat, edge_dim)
    with torch.no_grad():
        for parameter in conv.parameters():
            # Zero biases would hide a forgotten one, and attention must be far from uniform.
            parameter.copy_(1.5 * parameter + 0.1 * torch.randn_like(parameter))
    conv = conv.double()
    h = torch.randn(40, WIDTH).double()
    edge_attr = torch.randn(edge_index.shape[1], edge_dim).double() if edge_dim else None
    d_out = torch.randn(40, WIDTH).double()
    mask = masks(edge_index.shape[1], heads)
    tensors = {"h": h, "d_out": d_out}
    if edge_dim:
        tensors["edge_attr"] = edge_attr
    tensors |= evaluated(conv, h, edge_index, edge_attr, d_out, torch.ones_like(mask))
    dropped = evaluated(conv, h, edge_index, edge_attr, d_out, mask)
    tensors |= {f"dropped.{name}": tensor for name, tensor in dropped.items() if not name.startswith("param.")}
    write(path, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "crates/carat-nn/tests/golden")
    out = parser.parse_args().out
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    seed = 700
    for kind in ("gat", "gatv2", "transformer"):
        for heads, concat, edge_dim in ((2, True, None), (4, True, FEATURES), (3, False, None), (3, False, FEATURES)):
            name = f"layer_{kind}_{'concat' if concat else 'mean'}{'_edges' if edge_dim else ''}"
            write_layer(out / f"{name}.safetensors", kind, heads, concat, edge_dim, seed)
            seed += 1


if __name__ == "__main__":
    main()

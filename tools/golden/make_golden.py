"""Writes the golden files that carat-nn is tested against, from PyTorch Geometric in float64.

    python tools/golden/make_golden.py [--data-dir D] [--out crates/carat-nn/tests/golden]

Parameters are rounded to f32 before anything is computed, everything is computed in f64, and only the results are
rounded again: the files hold what an exact implementation gives for exactly the stored weights. One thread and
fixed seeds make two runs byte for byte the same.
"""

import sys
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

from common import CONFIGS, HIDDEN, KINDS, ROOT, run, seeded_network, small_graph, small_set, write

sys.path.insert(0, str(ROOT / "tools" / "pyg"))
from data import read_planetoid  # noqa: E402


def evaluate(network, x, edge_index, y, train, **graphs):
    """Logits, attention, loss and every gradient of the mean cross-entropy over what trains: nodes, or graphs."""
    network.zero_grad()
    logits, attention = network.forward_with_attention(x.double(), edge_index, **graphs)
    loss = cross_entropy(logits[train], y[train])
    loss.backward()
    return logits.detach(), [alpha.detach() for alpha in attention], loss.detach()


def parameters_and_gradients(network):
    tensors = {f"param.{name}": parameter.detach() for name, parameter in network.named_parameters()}
    tensors |= {f"grad.{name}": parameter.grad for name, parameter in network.named_parameters()}
    return tensors


def write_small(out):
    edge_index, x, y, train = small_graph()
    write(out / "small.safetensors", {"edge_index": edge_index, "x": x, "y": y, "train": train})
    for seed, (kind, heads, layers) in enumerate(CONFIGS):
        network = seeded_network(kind, heads, layers, x.shape[1], int(y.max()) + 1, 100 + seed)
        logits, attention, loss = evaluate(network, x, edge_index, y, train)
        tensors = parameters_and_gradients(network) | {"logits": logits, "loss": loss}
        tensors |= {f"attention.{layer}": alpha for layer, alpha in enumerate(attention)}
        write(out / f"small_{kind}_k{heads}_l{layers}.safetensors", tensors)
    write_edges(out)
    write_set(out)


def write_edges(out):
    """The same with features of edges; where PyG adds self-loops, also with these, whose features are means."""
    edge_index, x, y, train = small_graph()
    edge_attr = 2.0 * torch.randn(edge_index.shape[1], 3, generator=torch.Generator().manual_seed(40))
    write(out / "small_edges.safetensors", {"edge_attr": edge_attr})
    networks = [(kind, loops) for kind in KINDS for loops in (False, True) if kind != "transformer" or not loops]
    for seed, (kind, loops) in enumerate(networks):
        sizes = {"edge_dim": edge_attr.shape[1], "self_loops": loops}
        network = seeded_network(kind, 3, 2, x.shape[1], int(y.max()) + 1, 800 + seed, **sizes)
        logits = network(x.double(), edge_index, edge_attr=edge_attr.double())
        loss = cross_entropy(logits[train], y[train])
        loss.backward()
        tensors = parameters_and_gradients(network) | {"logits": logits.detach(), "loss": loss.detach()}
        write(out / f"small_edges_{kind}{'_loops' if loops else ''}.safetensors", tensors)


def write_set(out):
    """The same for graphs, read out by global_add_pool. All but the last of them train."""
    edge_index, x, y, batch = small_set()
    train = torch.arange(len(y) - 1)
    write(out / "set.safetensors", {"edge_index": edge_index, "x": x, "y": y, "batch": batch})
    for seed, (kind, heads, layers) in enumerate(CONFIGS):
        network = seeded_network(kind, heads, layers, x.shape[1], int(y.max()) + 1, 700 + seed)
        logits, _, loss = evaluate(network, x, edge_index, y, train, batch=batch, graphs=len(y))
        tensors = parameters_and_gradients(network) | {"logits": logits, "loss": loss}
        write(out / f"set_{kind}_k{heads}_l{layers}.safetensors", tensors)


def write_cora(out, folder):
    cora = read_planetoid(folder / "planetoid", "cora")
    generator = torch.Generator().manual_seed(30)

    def sample(size, population):
        return torch.randperm(population, generator=generator)[:size].sort().values

    nodes = sample(100, cora.x.shape[0])
    edges = sample(200, cora.edge_index.shape[1])
    columns = sample(64, cora.x.shape[1])

    # One encoder serves all files: it is by far the largest parameter. It is scaled for the reason given for `x` above,
    # by a power of two, which keeps it exact in f32.
    torch.manual_seed(200)
    encoder = torch.nn.Linear(cora.x.shape[1], HIDDEN).double().state_dict()
    encoder["weight"] *= 16.0
    write(out / "cora_encoder.safetensors", {f"param.encoder.{name}": tensor for name, tensor in encoder.items()})
    for seed, (kind, heads, layers) in enumerate(CONFIGS):
        network = seeded_network(kind, heads, layers, cora.x.shape[1], cora.num_classes, 300 + seed)
        network.encoder.load_state_dict(encoder)
        logits, attention, loss = evaluate(network, cora.x, cora.edge_index, cora.y, cora.train)
        tensors = parameters_and_gradients(network)
        del tensors["param.encoder.weight"], tensors["param.encoder.bias"]
        tensors["grad.encoder.weight.columns"] = columns
        tensors["grad.encoder.weight"] = tensors["grad.encoder.weight"][:, columns]
        tensors |= {"logit_nodes": nodes, "logits": logits[nodes], "loss": loss}
        tensors["attention_edges"] = cora.edge_index[:, edges]
        tensors |= {f"attention.{layer}": alpha[edges] for layer, alpha in enumerate(attention)}
        write(out / f"cora_{kind}_k{heads}_l{layers}.safetensors", tensors)


if __name__ == "__main__":
    run(__doc__, "crates/carat-nn/tests/golden", "*.safetensors", write_small, write_cora)

"""Writes the golden files that carat-nn is tested against, from PyTorch Geometric in float64.

    python tools/golden/make_golden.py [--data-dir D] [--out crates/carat-nn/tests/golden]

Parameters are rounded to f32 before anything is computed, everything is computed in f64, and only the results are
rounded again: the files hold what an exact implementation gives for exactly the stored weights. One thread and
fixed seeds make two runs byte for byte the same.
"""

import argparse
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch.nn.functional import cross_entropy

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "pyg"))
from data import data_folder, read_planetoid, sorted_edges  # noqa: E402
from network import KINDS, Network  # noqa: E402

HIDDEN = 8
CONFIGS = [(kind, heads, layers) for kind in KINDS for heads in (1, 3) for layers in (1, 2)]


def small_graph():
    """40 nodes with every shape that a kernel may trip over; `README.md` lists them."""
    generator = torch.Generator().manual_seed(20)
    nodes, features, classes = 40, 12, 4
    isolated, silent, single, hub, looped = (7, 23), (0, 31), 4, 12, 9
    edges = {(13, single), (looped, looped)}
    others = [n for n in range(nodes) if n not in isolated and n != hub]
    order = torch.randperm(len(others), generator=generator).tolist()
    edges |= {(others[o], hub) for o in order[:25]}
    while len(edges) < 150:
        src, dst = torch.randint(nodes, (2,), generator=generator).tolist()
        if src != dst and src not in isolated and dst not in (*isolated, *silent, single, hub):
            edges.add((src, dst))
    edge_index = sorted_edges(*zip(*edges), nodes)
    degree = torch.bincount(edge_index[1], minlength=nodes)
    assert all(degree[n] == 0 for n in isolated + silent) and degree[single] == 1 and degree[hub] == 25
    assert degree[looped] > 1 and all((edge_index[0] == n).any() for n in silent)
    # Large inputs, or attention stays near uniform and the gradients of the scores near zero.
    x = 4.0 * torch.randn(nodes, features, generator=generator)
    x[torch.rand(nodes, features, generator=generator) < 0.4] = 0.0
    x[18] = 0.0
    y = torch.randint(classes, (nodes,), generator=generator)
    y[:classes] = torch.arange(classes)
    # The special nodes train; so do every third of the rest.
    train = sorted({isolated[0], silent[0], single, hub, looped, *range(2, nodes, 3)})
    return edge_index, x, y, torch.tensor(train)


def seeded_network(kind, heads, layers, features, classes, seed):
    """PyG's own initialisation, zero biases disturbed so that they count, rounded to f32, then made f64."""
    torch.manual_seed(seed)
    network = Network(kind, features, classes, HIDDEN, heads, layers)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("bias") and not parameter.any():
                parameter += 0.1 * torch.randn_like(parameter)
    return network.double()


def evaluate(network, x, edge_index, y, train):
    """Logits, attention, loss and every gradient of the mean cross-entropy over the training nodes."""
    network.zero_grad()
    logits, attention = network.forward_with_attention(x.double(), edge_index)
    loss = cross_entropy(logits[train], y[train])
    loss.backward()
    return logits.detach(), [alpha.detach() for alpha in attention], loss.detach()


def parameters_and_gradients(network):
    tensors = {f"param.{name}": parameter.detach() for name, parameter in network.named_parameters()}
    tensors |= {f"grad.{name}": parameter.grad for name, parameter in network.named_parameters()}
    return tensors


def write(path, tensors):
    """Saves with every float as f32."""
    as_stored = {
        name: (tensor.float() if tensor.is_floating_point() else tensor).contiguous()
        for name, tensor in tensors.items()
    }
    save_file(as_stored, path)


def write_small(out):
    edge_index, x, y, train = small_graph()
    write(out / "small.safetensors", {"edge_index": edge_index, "x": x, "y": y, "train": train})
    for seed, (kind, heads, layers) in enumerate(CONFIGS):
        network = seeded_network(kind, heads, layers, x.shape[1], int(y.max()) + 1, 100 + seed)
        logits, attention, loss = evaluate(network, x, edge_index, y, train)
        tensors = parameters_and_gradients(network) | {"logits": logits, "loss": loss}
        tensors |= {f"attention.{layer}": alpha for layer, alpha in enumerate(attention)}
        write(out / f"small_{kind}_k{heads}_l{layers}.safetensors", tensors)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", help="folder that holds planetoid/ (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--out", type=Path, default=ROOT / "crates/carat-nn/tests/golden")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_small(arguments.out)
    write_cora(arguments.out, data_folder(arguments.data_dir))
    files = sorted(arguments.out.glob("*.safetensors"))
    print(f"{len(files)} files, {sum(file.stat().st_size for file in files)} bytes in {arguments.out}")


if __name__ == "__main__":
    main()

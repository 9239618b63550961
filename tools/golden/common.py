"""What the scripts that write golden files share: the small graph, the seeded networks, and how tensors are stored."""

import argparse
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "pyg"))
from data import data_folder, sorted_edges  # noqa: E402
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


def small_set():
    """Seven graphs as one disjoint graph: one of a single node, one without nodes, one without edges among them."""
    generator = torch.Generator().manual_seed(60)
    sizes, features, classes = (9, 1, 6, 0, 4, 12, 3), 12, 3
    batch = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    edges, first = {(4, 4)}, 0
    for size in sizes:
        # The fifth graph has no edges.
        wanted = 0 if size == 4 else size * (size - 1) // 3
        chosen = set()
        while len(chosen) < wanted:
            src, dst = torch.randint(size, (2,), generator=generator).tolist()
            if src != dst:
                chosen.add((first + src, first + dst))
        edges |= chosen
        first += size
    nodes = sum(sizes)
    x = 2.0 * torch.randn(nodes, features, generator=generator)
    y = torch.randint(classes, (len(sizes),), generator=generator)
    y[:classes] = torch.arange(classes)
    return sorted_edges(*zip(*edges), nodes), x, y, batch


def seeded_network(kind, heads, layers, features, classes, seed, **more):
    """PyG's own initialisation, zero biases disturbed so that they count, rounded to f32, then made f64."""
    torch.manual_seed(seed)
    network = Network(kind, features, classes, HIDDEN, heads, layers, **more)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("bias") and not parameter.any():
                parameter += 0.1 * torch.randn_like(parameter)
    return network.double()


def write(path, tensors, exact=()):
    """Saves with every float as f32, but for the names in `exact`, which stay as they are."""
    as_stored = {
        name: (tensor.float() if tensor.is_floating_point() and name not in exact else tensor).contiguous()
        for name, tensor in tensors.items()
    }
    save_file(as_stored, path)


def run(description, folder, pattern, write_small, write_cora):
    """The command line of both generators: writes everything into `folder` of this repository, or where --out says."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", help="folder that holds planetoid/ (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--out", type=Path, default=ROOT / folder)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_small(arguments.out)
    write_cora(arguments.out, data_folder(arguments.data_dir))
    files = sorted(arguments.out.glob(pattern))
    print(f"{len(files)} files, {sum(file.stat().st_size for file in files)} bytes in {arguments.out}")

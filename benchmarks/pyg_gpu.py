"""Times PyG's training steps on a GPU, plain and with causal attention regularisation (CAR).

    python benchmarks/pyg_gpu.py --data-dir DATA FILE.npz ... --out gpu.json

Needs torch with CUDA and torch_geometric, and nothing of carat: it runs on whatever machine has the GPU. Datasets are
names (cora, citeseer, pubmed) or `.npz` files ('carat data convert' makes them; without `x`, random features of
`--random-features` columns take its place). A step is what `pyg_step.py` times on the CPU, on the whole graph, with all
tensors on the GPU before the first one; it ends when the GPU has finished. `gpu_table.py` compares the figures
with carat's.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

KINDS = ("gat", "gatv2", "transformer")
SIZES = ((25, 1, 1), (100, 3, 2), (200, 5, 2))


def load_any(name, data_dir, random_features):
    """A dataset; features that the file leaves out are drawn."""
    import numpy
    import torch
    from data import Dataset, load, sorted_edges

    if str(name).endswith(".npz"):
        with numpy.load(name, allow_pickle=False) as file:
            if "x" not in file and "x_data" not in file:
                count = len(file["y"])
                torch.manual_seed(0)
                empty = torch.empty(0, dtype=torch.int64)
                return Dataset(
                    name=Path(name).stem,
                    edge_index=sorted_edges(*file["edge_index"], count),
                    x=torch.randn(count, random_features),
                    y=torch.from_numpy(file["y"].astype(numpy.int64)),
                    train=torch.from_numpy(numpy.flatnonzero(numpy.atleast_2d(file["train_mask"])[0])),
                    val=empty,
                    test=empty,
                )
    return load(name, data_dir)


def measure(data, kind, size, arguments):
    """Milliseconds of both steps and the GPU memory they take."""
    import torch
    from network import Network
    from pyg_step import time_steps, training_steps

    device = torch.device("cuda")
    torch.manual_seed(0)
    x, edge_index, y, train = (tensor.to(device) for tensor in (data.x, data.edge_index, data.y, data.train))
    network = Network(kind, x.shape[1], data.num_classes, *size).to(device)
    torch.cuda.reset_peak_memory_stats()
    result = {"data": data.name, "kind": kind, "size": size, "nodes": x.shape[0], "edges": edge_index.shape[1]}
    try:
        for key, step in zip(("step_ms", "car_step_ms"), training_steps(network, x, edge_index, y, train, 5, 1.0)):

            def whole():
                step()
                torch.cuda.synchronize()

            times = time_steps(whole, 20, 50, arguments.seconds, 4 * arguments.seconds)
            result |= {key: statistics.median(times), f"fastest_{key}": min(times), f"{key}_count": len(times)}
            result["gpu_memory_mb"] = torch.cuda.max_memory_allocated() / 2**20
    except torch.OutOfMemoryError:
        result["failed"] = "out of GPU memory"
    return result


def measure_all(arguments):
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[1] / "tools" / "pyg")]
    import torch
    import torch_geometric

    machine = {
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
    }
    cases = []
    for name in arguments.data:
        data = load_any(name, arguments.data_dir, arguments.random_features)
        for size in SIZES:
            for kind in KINDS:
                cases.append(measure(data, kind, size, arguments))
                print(json.dumps(cases[-1]), flush=True)
                torch.cuda.empty_cache()
                # After every case, so that a machine that is taken back costs one case.
                Path(arguments.out).write_text(json.dumps({"machine": machine, "cases": cases}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help="names or .npz files")
    parser.add_argument("--data-dir", help="folder of the named datasets")
    parser.add_argument("--random-features", type=int, default=128)
    parser.add_argument("--seconds", type=float, default=2.0, help="time each kind of step for this long")
    parser.add_argument("--out", default="gpu.json")
    measure_all(parser.parse_args())


if __name__ == "__main__":
    main()

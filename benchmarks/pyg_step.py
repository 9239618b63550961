"""Times PyG's full training step on CPU: zero_grad, forward, cross-entropy on the training nodes, backward, Adam.

Prints one JSON document. With `--receptive-field` the graph is first cut by hand, outside the timing, to what the
training loss depends on, which PyG does not do by itself. With `--car` it then times the step with causal attention
regularisation (CAR) as well, as a PyG user would write it.
"""

import argparse
import json
import resource
import statistics
import sys
import time
import tomllib
from pathlib import Path

import torch
from torch.nn.functional import binary_cross_entropy, cross_entropy

from measuring import ran_out_of_memory

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "pyg"))
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


class CausalLoss:
    """L_c of `rounds` rounds, each one pass without gradient over the graph less one in-edge of every entity.

    Entities are the training nodes with in-edges. That a round's edges are independent of each other is not checked,
    which saves PyG the search: with two layers its effects are therefore slightly wrong, and its step is faster.
    """

    def __init__(self, network, x, edge_index, y, train, rounds, temperature=0.1):
        self.network, self.x, self.edge_index = network, x, edge_index
        self.rounds, self.temperature = rounds, temperature
        # Edges are ordered by target, so a node's in-edges are a range.
        degree = torch.bincount(edge_index[1], minlength=x.shape[0])
        first = degree.cumsum(0) - degree
        self.within_train = degree[train] > 0
        self.entities = train[self.within_train]
        self.labels = y[self.entities]
        self.degree, self.first = degree[self.entities], first[self.entities]

    def effects(self, chosen, ce):
        """c of the chosen edges, one per entity, given the entities' cross-entropies with all edges."""
        kept = torch.ones(self.edge_index.shape[1], dtype=torch.bool, device=self.x.device)
        kept[chosen] = False
        with torch.no_grad():
            logits = self.network(self.x, self.edge_index[:, kept])[self.entities]
            ce_without = cross_entropy(logits, self.labels, reduction="none")
            # Cross-entropies that f32 rounds to 0 would make NaN of the ratio, large ratios to the power of d inf.
            log_rho = ce_without.clamp(min=1e-12).log() - ce.detach().clamp(min=1e-12).log()
            power = (self.degree * log_rho).clamp(max=80.0).exp()
            return torch.sigmoid((power - 1.0) / self.temperature)

    def __call__(self, ce, attention):
        """L_c, from the training nodes' cross-entropies and every layer's attention in the pass with all edges."""
        ce = ce[self.within_train]
        means = [alpha.mean(dim=1) for alpha in attention]
        total = 0.0
        for _ in range(self.rounds):
            offset = (torch.rand(len(self.entities), device=self.x.device) * self.degree).long()
            # f32 may round the product up to the degree.
            chosen = self.first + torch.minimum(offset, self.degree - 1)
            c = self.effects(chosen, ce)
            total = total + sum(binary_cross_entropy(mean[chosen].clamp(max=1.0), c) for mean in means) / len(means)
        return total / self.rounds


def training_steps(network, x, edge_index, y, train, rounds, strength, weight_decay=0.0):
    """Two functions that each make one training step of the network, with one Adam: the plain step and the CAR step."""
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=weight_decay)
    causal_loss = CausalLoss(network, x, edge_index, y, train, rounds)

    def step():
        optimiser.zero_grad()
        loss = cross_entropy(network(x, edge_index)[train], y[train])
        loss.backward()
        optimiser.step()

    def car_step():
        optimiser.zero_grad()
        logits, attention = network.forward_with_attention(x, edge_index)
        ce = cross_entropy(logits[train], y[train], reduction="none")
        loss = ce.mean() + strength * causal_loss(ce, attention)
        loss.backward()
        optimiser.step()

    return step, car_step


def time_steps(step, warm_up, least, seconds, most=float("inf")):
    """Milliseconds of each step, after the warm-up. Steps so long that the warm-up or `least` of them would take more
    than `most` seconds are made fewer times, at least once each."""
    began = time.perf_counter()
    for _ in range(warm_up):
        step()
        if time.perf_counter() - began > most / 3:
            break
    times, began = [], time.perf_counter()
    while True:
        start = time.perf_counter()
        step()
        now = time.perf_counter()
        times.append(1000.0 * (now - start))
        if now - began >= most or (len(times) >= least and now - began >= seconds):
            return times


def times_within_memory(*timing):
    """As `time_steps`; None where the memory limit of this process stopped it."""
    try:
        return time_steps(*timing)
    except (RuntimeError, MemoryError) as error:
        # torch has no class of its own for memory that the system refuses.
        if isinstance(error, MemoryError) or ran_out_of_memory(str(error)):
            return None
        raise


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


def settings_of(preset):
    """carat's own table of a preset."""
    return tomllib.loads((ROOT / "crates/carat/src/settings/presets.toml").read_text())[preset]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="cora", help="cora, citeseer, pubmed or an .npz")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--arch", choices=KINDS, default="gat")
    parser.add_argument("--hidden", type=int, default=100)
    parser.add_argument("--heads", type=int, default=3)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--preset", default="paper", help="what stands around the layers: paper, gat or strong")
    parser.add_argument("--receptive-field", action="store_true")
    parser.add_argument("--car", action="store_true", help="time the step with CAR as well")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of interventions in a CAR step")
    parser.add_argument("--lambda", dest="strength", type=float, default=1.0, help="weight of L_c in a CAR step")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warm-up", type=int, default=3, help="steps before the timing starts")
    parser.add_argument("--min-steps", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0, help="go on timing steps of a kind for this long")
    parser.add_argument(
        "--most-seconds", type=float, default=float("inf"), help="make fewer steps when they take longer"
    )
    parser.add_argument("--edge-share", type=float, default=1.0, help="keep only this share of the edges, at random")
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
    if arguments.edge_share < 1.0:
        edge_index = edge_index[:, torch.rand(edge_index.shape[1]) < arguments.edge_share]
    settings = settings_of(arguments.preset)
    sizes = {name: getattr(arguments, name) for name in ("arch", "hidden", "heads", "layers")}
    network = Network.of_config(settings | sizes, x.shape[1], classes)
    weight_decay = settings.get("weight-decay", 0.0)
    step, car_step = training_steps(network, x, edge_index, y, train, arguments.rounds, arguments.strength, weight_decay)

    timing = (arguments.warm_up, arguments.min_steps, arguments.seconds, arguments.most_seconds)
    reset_peak_memory()
    times = times_within_memory(step, *timing)
    result = {
        "step_ms": statistics.median(times) if times else None,
        "fastest_step_ms": min(times) if times else None,
        "steps": len(times or []),
        "peak_memory_mb": peak_memory_mb(),
        "plain_peak_memory_mb": peak_memory_mb(),
        "memory_after_import_mb": idle,
        "nodes": x.shape[0],
        "edges": edge_index.shape[1],
        "torch": torch.__version__,
        "threads": arguments.threads,
    }
    if arguments.car:
        # A CAR step holds a plain step's tensors and more.
        car_times = times_within_memory(car_step, *timing) if times else None
        result |= {
            "car_step_ms": statistics.median(car_times) if car_times else None,
            "ratio": statistics.median(car_times) / result["step_ms"] if car_times else None,
            "car_steps": len(car_times or []),
            "rounds": arguments.rounds,
            "peak_memory_mb": peak_memory_mb(),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()

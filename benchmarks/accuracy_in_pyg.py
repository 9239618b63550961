"""PyG's own training loop with the settings of a run of carat; `compare_accuracy.py` calls it.

What differs from carat's settings is refused, not ignored: CAR, CAL, batches of nodes and fan-out.
"""

import copy
import sys
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from compare_accuracy import Stopping, loss_of_shares, roc_auc, selected_by, setting

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools" / "pyg"))
from network import Network  # noqa: E402


class Data:
    """What `carat data convert` wrote, with the changes that the settings ask for. `nodes` are the training nodes."""

    def __init__(self, path, config, training, device):
        with np.load(path, allow_pickle=False) as file:
            self.is_dense = "x" in file
            self.x = torch.from_numpy(file["x"] if self.is_dense else from_csr(file)).float()
            self.edge_index = torch.from_numpy(file["edge_index"].astype(np.int64))
            reads_edges = setting(config, "edge-features") and "edge_attr" in file
            self.edge_attr = torch.from_numpy(file["edge_attr"]).float() if reads_edges else None
            self.y = torch.from_numpy(file["y"].astype(np.int64))
            self.classes = int(file["num_classes"])
            self.offsets = torch.from_numpy(file["graph_offsets"]) if "graph_offsets" in file else None
        if setting(config, "self-loops"):
            if self.edge_attr is not None:
                raise SystemExit("self-loops of edges with features are not compared")
            own = torch.arange(len(self.x))
            others = self.edge_index[:, self.edge_index[0] != self.edge_index[1]]
            self.edge_index = torch.cat([others, torch.stack([own, own])], dim=1)
        self.x = self.scaled(setting(config, "normalise"), training)
        if self.offsets is not None:
            of_edge = torch.searchsorted(self.offsets, self.edge_index[1], right=True) - 1
            order = torch.argsort(of_edge, stable=True)
            self.edge_index = self.edge_index[:, order]
            self.edge_attr = None if self.edge_attr is None else self.edge_attr[order]
            self.edge_offsets = torch.searchsorted(of_edge[order], torch.arange(len(self.y) + 1))
        tensors = {name: value for name, value in vars(self).items() if isinstance(value, torch.Tensor)}
        vars(self).update({name: value.to(device) for name, value in tensors.items()})

    def scaled(self, how, training):
        """The features as `normalise` says; see carat-graph/src/encoding/scale.rs."""
        x = self.x
        if how == "auto":
            is_switch = bool(((x == 0) | (x == 1)).all())
            how = "standard" if self.is_dense and not is_switch else "none"
        if how == "row":
            x = x - x.min()
            return x / x.sum(dim=1, keepdim=True).clamp(min=1.0)
        if how != "standard":
            return x
        if self.offsets is not None:
            training = torch.cat([torch.arange(self.offsets[g], self.offsets[g + 1]) for g in training.tolist()])
        chosen = x[training].double()
        filled = (chosen != 0).sum(dim=0)
        centred = filled >= 0.12 * len(chosen)
        shift = torch.where(centred, chosen.mean(dim=0), 0.0)
        rms = (chosen.square().sum(dim=0) / filled.clamp(min=1)).sqrt()
        deviation = torch.where(centred, chosen.std(dim=0, correction=0), rms)
        factor = torch.where(deviation > 1e-12 * shift.abs(), 1.0 / deviation, 1.0)
        return ((x.double() - shift) * factor).float()

    def inputs(self, chosen):
        """What the network is called with: the whole graph, or the chosen graphs as one."""
        if self.offsets is None:
            return {"x": self.x, "edge_index": self.edge_index, "edge_attr": self.edge_attr}
        starts, ends = self.offsets[chosen], self.offsets[chosen + 1]
        sizes = ends - starts
        shifts = torch.cumsum(sizes, 0) - sizes - starts
        firsts, lasts = self.edge_offsets[chosen], self.edge_offsets[chosen + 1]
        nodes, edges = (
            torch.cat([torch.arange(a, b) for a, b in zip(first.tolist(), last.tolist())]).to(chosen.device)
            for first, last in ((starts, ends), (firsts, lasts))
        )
        shift = torch.repeat_interleave(shifts, lasts - firsts)
        return {
            "x": self.x[nodes],
            "edge_index": self.edge_index[:, edges] + shift,
            "edge_attr": None if self.edge_attr is None else self.edge_attr[edges],
            "batch": torch.repeat_interleave(torch.arange(len(chosen), device=chosen.device), sizes),
            "graphs": len(chosen),
        }

    def logits(self, network, chosen):
        """Class scores of the chosen nodes or graphs."""
        out = network(**self.inputs(chosen))
        return out[chosen] if self.offsets is None else out


def from_csr(file):
    """The dense form of features that were stored as CSR."""
    rows, columns = file["x_shape"]
    x = np.zeros((rows, columns), dtype=np.float32)
    row = np.repeat(np.arange(rows), np.diff(file["x_indptr"]))
    x[row, file["x_indices"]] = file["x_data"]
    return x


def refuse(config):
    """Stops where the settings ask for what this loop does not have."""
    if config.get("lambda", 0) or config.get("model", "attention") == "cal" or config.get("fanout"):
        raise SystemExit("only plain networks without CAR, CAL and fan-out are compared")


def optimiser_of(config, network):
    """The optimiser, and what sets its learning rate after an epoch."""
    kind = torch.optim.AdamW if setting(config, "optimiser") == "adamw" else torch.optim.Adam
    optimiser = kind(network.parameters(), lr=config["lr"], weight_decay=setting(config, "weight-decay"))
    if setting(config, "schedule") == "none":
        return optimiser, lambda: None
    return optimiser, torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=config["epochs"]).step


def figure_of(name, logits, labels, rarer):
    """A validation or test figure; higher is better."""
    if name == "loss":
        return -float(cross_entropy(logits, labels))
    if name == "accuracy":
        return float((logits.argmax(dim=1) == labels).float().mean())
    if name in ("auc", "roc_auc") and logits.shape[1] == 2:
        scores = logits[:, rarer] - logits[:, 1 - rarer]
        return roc_auc(scores.tolist(), (labels == rarer).tolist())
    raise SystemExit(f"the figure {name} of {logits.shape[1]} classes is not compared")


def train(path, config, parts, figure, threads, device="cpu"):
    """Trains with the settings of a run on the data in an `.npz`; `parts` has the nodes or graphs to train, stop and
    test on. Returns the test figure of the best epoch."""
    refuse(config)
    torch.set_num_threads(threads)
    torch.manual_seed(config.get("seed", 0))
    data = Data(path, config, torch.tensor(parts[0]), device)
    training, validation, test = (torch.tensor(part, device=device) for part in parts)
    batch_size = setting(config, "batch-size")
    if data.offsets is None and len(training) > batch_size:
        raise SystemExit("batches of nodes are not compared")
    edge_dim = None if data.edge_attr is None else data.edge_attr.shape[1]
    network = Network.of_config(config, data.x.shape[1], data.classes, edge_dim).to(device)
    optimiser, end_epoch = optimiser_of(config, network)

    counts = torch.bincount(data.y[training], minlength=data.classes).tolist()
    rarer = 0 if data.classes == 2 and counts[0] < counts[1] else 1
    weights = [1.0] * data.classes
    if setting(config, "class-weights") == "balanced":
        weights = [len(training) / (sum(map(bool, counts)) * max(count, 1)) for count in counts]
    in_loss = torch.tensor(weights, device=device)
    learned = 0.95 * loss_of_shares(data.y[validation].tolist(), counts, weights)
    selected, stopping, kept = selected_by(config, counts), Stopping(config, config["epochs"]), None
    while not stopping.is_over():
        network.train()
        for some in torch.split(training[torch.randperm(len(training)).to(device)], batch_size):
            optimiser.zero_grad()
            cross_entropy(data.logits(network, some), data.y[some], weight=in_loss).backward()
            optimiser.step()
        end_epoch()
        network.eval()
        with torch.no_grad():
            logits = data.logits(network, validation)
        loss = float(cross_entropy(logits, data.y[validation]))
        has_learned = float(cross_entropy(logits, data.y[validation], weight=in_loss)) < learned
        if stopping.is_best(figure_of(selected, logits, data.y[validation], rarer), loss, has_learned):
            kept = copy.deepcopy(network.state_dict())
    network.load_state_dict(kept)
    with torch.no_grad():
        return figure_of(figure, data.logits(network, test), data.y[test], rarer)

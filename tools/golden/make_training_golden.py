"""Writes the golden file of how networks are trained: optimisers, the schedule and class weights, from PyTorch in f64.

    python tools/golden/make_training_golden.py [--out crates/carat-nn/tests/golden]
"""

import argparse
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy

from common import ROOT, seeded_network, small_graph, write

STEPS, EPOCHS, RATE, DECAY = 8, 10, 0.05, 0.1
OPTIMISERS = {
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=RATE),
    "adam_decay": lambda parameters: torch.optim.Adam(parameters, lr=RATE, weight_decay=DECAY),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=RATE, weight_decay=DECAY),
}
CLASS_WEIGHTS = (0.25, 3.0, 1.0, 1.75)


def optimised():
    """Parameters after every step along given gradients, and learning rates by epoch."""
    generator = torch.Generator().manual_seed(800)
    start = torch.randn(9, generator=generator, dtype=torch.float64)
    gradients = torch.randn(STEPS, 9, generator=generator, dtype=torch.float64)
    # One parameter without a gradient, which only its decay moves, and one that starts at 0.
    gradients[:, 4] = 0.0
    start[7] = 0.0
    tensors = {"start": start, "gradients": gradients}
    schedules = [(name, False) for name in OPTIMISERS] + [("adamw", True)]
    for name, is_cosine in schedules:
        parameter = torch.nn.Parameter(start.clone())
        optimiser = OPTIMISERS[name]([parameter])
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=EPOCHS)
        after, rates = [], []
        for epoch in range(EPOCHS):
            rates.append(optimiser.param_groups[0]["lr"])
            parameter.grad = gradients[epoch % STEPS].clone()
            optimiser.step()
            after.append(parameter.detach().clone())
            if is_cosine:
                schedule.step()
        suffix = "_cosine" if is_cosine else ""
        tensors[f"after.{name}{suffix}"] = torch.stack(after[:STEPS])
        if is_cosine:
            tensors["rates"] = torch.tensor(rates, dtype=torch.float64)
    return tensors


def weighted():
    """Loss and gradients of a network whose classes count differently."""
    edge_index, x, y, train = small_graph()
    network = seeded_network("gat", 3, 2, x.shape[1], int(y.max()) + 1, 810)
    weights = torch.tensor(CLASS_WEIGHTS, dtype=torch.float64)
    logits = network(x.double(), edge_index)
    loss = cross_entropy(logits[train], y[train], weight=weights)
    loss.backward()
    tensors = {f"param.{name}": parameter.detach() for name, parameter in network.named_parameters()}
    tensors |= {f"grad.{name}": parameter.grad for name, parameter in network.named_parameters()}
    return tensors | {"weights": weights, "loss": loss.detach()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "crates/carat-nn/tests/golden")
    out = parser.parse_args().out
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    tensors = optimised()
    write(out / "optimisers.safetensors", tensors, exact=tensors.keys())
    write(out / "class_weights.safetensors", weighted(), exact=("weights", "loss"))


if __name__ == "__main__":
    main()

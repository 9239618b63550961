"""Writes the golden files that carat's CAL is tested against, from PyTorch and PyG in float64.

    python tools/golden/make_cal_golden.py [--out crates/carat-nn/tests/golden]

As in `make_golden.py`, what the files hold is what an exact implementation gives for exactly the stored numbers.
"""

import argparse
import sys
from pathlib import Path

import torch

from common import HIDDEN, ROOT, small_graph, write

sys.path.insert(0, str(ROOT / "tools" / "pyg"))
from cal import CausalGAT, objective  # noqa: E402

LAMBDA1, LAMBDA2 = 0.4, 0.8


def rounded(*shape):
    """Noise that f32 holds exactly."""
    return torch.randn(*shape).float().double()


def running(model):
    names = ("running_mean", "running_var")
    return {name: value.detach().clone() for name, value in model.named_buffers() if name.endswith(names)}


def disturbed(model):
    """Parameters and running statistics away from their initial values, where zeros and ones would hide mistakes."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter += 0.2 * torch.randn_like(parameter)
            # Shares far from one half, so that they count.
            if "att_mlp.weight" in name:
                parameter *= 3.0
        for name, buffer in running(model).items():
            shift = 0.3 * torch.randn_like(buffer)
            target = model.get_buffer(name)
            target.copy_(buffer + (shift.abs() if name.endswith("var") else shift))
    return model.double()


def write_models(out):
    edge_index, x, y, train = small_graph()
    nodes, features, classes = x.shape[0], x.shape[1], int(y.max()) + 1
    for seed, (heads, layers) in enumerate([(1, 1), (2, 2), (4, 1)]):
        torch.manual_seed(400 + seed)
        model = disturbed(CausalGAT(features, classes, HIDDEN, heads, layers))
        permutation = torch.randperm(nodes)
        tensors = {f"param.{name}": parameter.detach().clone() for name, parameter in model.named_parameters()}
        tensors |= {f"before.{name}": value for name, value in running(model).items()}
        with torch.no_grad():
            tensors["predicted"] = model.eval()(x.double(), edge_index, permutation)[1]
        scores = model.train()(x.double(), edge_index, permutation)
        loss = objective(scores, y, train, LAMBDA1, LAMBDA2)
        loss.backward()
        tensors |= {f"grad.{name}": parameter.grad for name, parameter in model.named_parameters()}
        tensors |= {f"after.{name}": value for name, value in running(model).items()}
        for name, head in zip(("context", "object", "combined"), scores):
            tensors[name] = head.detach()
        tensors |= {"loss": loss.detach(), "permutation": permutation}
        tensors["lambda"] = torch.tensor([LAMBDA1, LAMBDA2])
        write(out / f"cal_k{heads}_l{layers}.safetensors", tensors)


def write_batch_norm(out):
    """17 rows, of which a column is constant and one is far from 0."""
    torch.manual_seed(500)
    x = rounded(17, 5)
    x[:, 2] = 0.75
    x[:, 4] += 1000.0
    x = x.float().double().requires_grad_()
    norm = torch.nn.BatchNorm1d(5).double()
    with torch.no_grad():
        for tensor in (norm.weight, norm.bias, norm.running_mean):
            tensor.copy_(rounded(5))
        norm.running_var.copy_(rounded(5).abs() + 0.5)
    before = {name: value.detach().clone() for name, value in norm.state_dict().items() if value.is_floating_point()}
    predicted = norm.eval()(x).detach()
    d_out = rounded(17, 5)
    found = norm.train()(x)
    (found * d_out).sum().backward()
    tensors = before | {"x": x.detach(), "out": found.detach(), "predicted": predicted, "d_out": d_out}
    tensors |= {"d_x": x.grad, "d_weight": norm.weight.grad, "d_bias": norm.bias.grad}
    tensors |= {"after_mean": norm.running_mean, "after_var": norm.running_var}
    # In f64, so that a test in f64 can ask for more than f32's digits.
    write(out / "batch_norm.safetensors", tensors, exact=tensors)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "crates/carat-nn/tests/golden")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    write_models(arguments.out)
    write_batch_norm(arguments.out)

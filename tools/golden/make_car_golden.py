"""Writes the golden files that carat's causal attention regularisation is tested against, from PyG in float64.

    python tools/golden/make_car_golden.py [--data-dir D] [--out crates/carat/tests/golden]

Every effect comes from deleting its edge and rerunning the whole network (`tools/pyg/car.py`). Gradients are
autograd's, held against central differences before they are written. The graph and, for Cora, the weights are those of
the files that make_golden.py writes. `README.md` lists the tensors.
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

from common import CONFIGS, HIDDEN, ROOT, run, seeded_network, small_graph, write

sys.path.insert(0, str(ROOT / "tools" / "pyg"))
import car  # noqa: E402
from data import read_planetoid  # noqa: E402
from network import KINDS, Network  # noqa: E402

WEIGHTS = ROOT / "crates/carat-nn/tests/golden"
STRENGTH = 0.7
LAYER_STRENGTHS = (0.3, 0.9)
SCORES = {"gat": ("att_src", "att_dst"), "gatv2": ("att",), "transformer": ("lin_query.weight", "lin_query.bias")}


def widen(network, kind, heads, x, edge_index):
    """Scales scores and classifier by powers of two, until attention is far from uniform and effects are spread.

    Scores grow while no attention falls below 1e-5; near 1e-12 torch's BCE has other gradients than the closed form.
    """
    scores = [p for name, p in network.named_parameters() if name.endswith(SCORES[kind]) and "layers" in name]

    def smallest_attention():
        return min(float(alpha.mean(dim=1).min()) for alpha in network.forward_with_attention(x, edge_index)[1])

    with torch.no_grad():
        while smallest_attention() > 1e-5:
            for parameter in scores:
                parameter *= 2.0
        for parameter in scores:
            parameter *= 0.5
        for parameter in network.classifier.parameters():
            # More heads average more away.
            parameter *= 4.0 if heads == 1 else 16.0


def choose_rounds(pairs):
    """Three rounds of 12, 9 and 5 entities, one in-edge each, with the self-loop and the only in-edge of a node."""
    generator = torch.Generator().manual_seed(40)
    loop = int((pairs.source == pairs.target).nonzero())
    single = int((pairs.degree == 1).nonzero())
    forced = [[loop, single], [single], []]
    entities = pairs.target.unique()
    rounds = []
    for chosen, size in zip(forced, (12, 9, 5)):
        taken = pairs.target[chosen].tolist()
        for n in entities[torch.randperm(len(entities), generator=generator)].tolist():
            if len(chosen) < size and n not in taken:
                own = (pairs.target == n).nonzero().flatten()
                chosen = [*chosen, int(own[torch.randint(len(own), (), generator=generator)])]
        rounds.append(torch.tensor(sorted(chosen)))
    return rounds


def check_gradient(network, loss, gradients):
    """Compares two entries of every parameter's gradient, the largest and a middle one, with central differences."""
    step = 1e-6
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            # A gradient that is zero throughout would prove nothing; the transformer's key bias has no other.
            assert gradients[name].abs().max() > 1e-3 or name.endswith("lin_key.bias"), f"{name}: choose another seed"
            entries, gradient = parameter.view(-1), gradients[name].flatten()
            for index in {int(gradient.abs().argmax()), len(gradient) // 2}:
                kept = float(entries[index])
                entries[index] = kept + step
                above = float(loss())
                entries[index] = kept - step
                below = float(loss())
                entries[index] = kept
                difference = (above - below) / (2.0 * step)
                error = abs(difference - float(gradient[index]))
                assert error < 1e-7 * (1.0 + abs(difference)), f"{name}[{index}]: {gradient[index]}, not {difference}"


def effects(network, x, edge_index, y, train, pairs):
    """What is stored of every pair, for the arms `causal` and `vote`."""
    ce, ce_without = car.network_losses(network, x, edge_index, y, pairs)
    vote_ce, vote_ce_without = car.vote_losses(edge_index, y, train, int(y.max()) + 1, pairs)
    return {
        "ce_without": ce_without,
        "rho": car.log_rho(ce, ce_without).exp(),
        "c": car.effect(ce, ce_without, pairs.degree),
        "c_one": car.effect(ce, ce_without, 1),
        "q": car.distribution(ce, ce_without, pairs.degree, pairs),
        "vote_rho": car.log_rho(vote_ce, vote_ce_without).exp(),
        "vote_c": car.effect(vote_ce, vote_ce_without, pairs.degree),
    }


def small_tensors(network, x, edge_index, y, train):
    """Everything that a file holds, and the names of what stays f64 in it."""
    pairs = car.pairs_of(edge_index, train)
    rounds = choose_rounds(pairs)
    tensors = effects(network, x, edge_index, y, train, pairs)
    c, q = tensors["c"], tensors["q"]

    def forward():
        logits, attention = network.forward_with_attention(x, edge_index)
        return car.cross_entropy(logits[train], y[train]), car.head_mean(attention, pairs)

    def all_edges(abar):
        return car.per_layer(car.bce(abar, c, pairs), car.weights_all(pairs))

    def given_rounds(abar):
        return car.per_layer(car.bce(abar, c, pairs), car.weights_of_rounds(rounds, pairs))

    def distribution(abar):
        return car.per_layer(car.kl(abar, q), car.weights_of_sums(pairs))

    ce, abar = (tensor.detach() for tensor in forward())
    tensors |= {"ce": ce, "prediction_loss": ce.mean()}
    tensors |= {f"abar.{layer}": of_edges for layer, of_edges in enumerate(abar)}
    tensors |= {"loss_all": all_edges(abar).mean(), "loss_all_layers": all_edges(abar)}
    tensors |= {"loss_rounds": given_rounds(abar).mean(), "distribution": distribution(abar).mean()}
    totals = {
        "all": (all_edges, STRENGTH),
        "rounds": (given_rounds, STRENGTH),
        "distribution": (distribution, STRENGTH),
    }
    if len(abar) == len(LAYER_STRENGTHS):
        totals["layers"] = (all_edges, LAYER_STRENGTHS)
    gradients = {}
    for name, (layer_losses, strength) in totals.items():

        def total():
            ce, abar = forward()
            return car.total_loss(ce.mean(), layer_losses(abar), strength)

        network.zero_grad()
        loss = total()
        loss.backward()
        tensors[f"total_{name}"] = loss.detach()
        of_parameter = {key: parameter.grad.clone() for key, parameter in network.named_parameters()}
        check_gradient(network, total, of_parameter)
        gradients |= {f"grad_{name}.{key}": gradient for key, gradient in of_parameter.items()}
    exact = set(tensors)
    tensors |= {"edges": edge_index[:, pairs.edge]} | {f"rounds.{r}": chosen for r, chosen in enumerate(rounds)}
    tensors |= {f"param.{name}": parameter.detach() for name, parameter in network.named_parameters()}
    return tensors | gradients, exact


def write_small(out):
    edge_index, x, y, train = small_graph()
    x = x.double()
    for seed, (kind, heads, layers) in enumerate(CONFIGS):
        network = seeded_network(kind, heads, layers, x.shape[1], int(y.max()) + 1, 500 + seed)
        widen(network, kind, heads, x, edge_index)
        tensors, exact = small_tensors(network, x, edge_index, y, train)
        write(out / f"car_small_{kind}_k{heads}_l{layers}.safetensors", tensors, exact)
        ce, c = tensors["ce"], tensors["c"]
        smallest = min(float(tensors[f"abar.{layer}"].min()) for layer in range(layers))
        middle = int(((c > 0.05) & (c < 0.95)).sum())
        print(f"small {kind} K={heads} L={layers}: CE {ce.min():.1e} to {ce.max():.1f}, ", end="")
        print(f"{middle} of {len(c)} effects between 0.05 and 0.95, smallest abar {smallest:.1e}")


def write_cora(out, folder):
    """Effects of the in-edges of 30 training nodes, for the weights of make_golden.py's files."""
    cora = read_planetoid(folder / "planetoid", "cora")
    x = cora.x.double()
    generator = torch.Generator().manual_seed(50)
    nodes = cora.train[torch.randperm(len(cora.train), generator=generator)[:30].sort().values]
    pairs = car.pairs_of(cora.edge_index, nodes)
    encoder = load_file(WEIGHTS / "cora_encoder.safetensors")
    for kind in KINDS:
        stored = load_file(WEIGHTS / f"cora_{kind}_k3_l2.safetensors") | encoder
        network = Network(kind, x.shape[1], cora.num_classes, HIDDEN, heads=3, layers=2)
        parameters = {name.removeprefix("param."): t for name, t in stored.items() if name.startswith("param.")}
        network.load_state_dict(parameters, strict=True)
        network.double()
        ce, ce_without = car.network_losses(network, x, cora.edge_index, cora.y, pairs)
        c = car.effect(ce, ce_without, pairs.degree)
        with torch.no_grad():
            node_ce = car.cross_entropy(network(x, cora.edge_index)[nodes], cora.y[nodes])
        tensors = {"nodes": nodes, "edges": cora.edge_index[:, pairs.edge], "ce": node_ce}
        tensors |= {"ce_without": ce_without, "rho": car.log_rho(ce, ce_without).exp(), "c": c}
        write(out / f"car_cora_{kind}.safetensors", tensors, exact=set(tensors))
        print(f"cora {kind}: {len(pairs)} edges, c {c.min():.4f} to {c.max():.4f}")


if __name__ == "__main__":
    run(__doc__, "crates/carat/tests/golden", "car_*.safetensors", write_small, write_cora)

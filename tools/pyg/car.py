"""Causal attention regularisation (CAR) in PyTorch Geometric, by brute force: delete an edge, rerun the whole network.

Entities n are the training nodes with in-edges. For every in-edge (i, n) of an entity, with d the in-degree of n:

    rho  = CE'/CE                          cross-entropy of n without the edge, and with all edges
    c    = sigmoid((rho^d - 1) / T)        the edge's effect, T = 0.1
    L_c  = mean over layers of the mean over pairs of BCE(abar, c)
    loss = L_p + lambda L_c                L_p: mean cross-entropy over all training nodes

abar is the head mean of a layer's attention in the pass with all edges. c is a constant target: no gradient flows
through it. Nothing here is meant to be fast: it is what the fast programs are checked against. All functions work in
the precision of what they are given.
"""

from dataclasses import dataclass
from math import exp

import torch
from torch.nn.functional import one_hot, softplus

TEMPERATURE = 0.1
# |d ln rho| beyond this changes no c, in f64 either, and exp(80) / T is still finite in f32.
EXPONENT_LIMIT = 80.0
# |d ln rho| beyond which a distribution target grows no further.
DISTRIBUTION_LIMIT = 2.0
# No logarithm of the loss is below -100, as in torch's binary_cross_entropy.
SMALLEST_ATTENTION = exp(-100.0)


def cross_entropy(logits, y):
    """Cross-entropy of each row, ln(1 + sum over k != y of exp(z_k - z_y)), with its relative precision where tiny.

    The sum stays a logarithm o until the end, which is the max-shift; ln(1 + exp(o)) is softplus(o).
    """
    own = logits.gather(1, y[:, None])
    gaps = (logits - own).masked_fill(one_hot(y, logits.shape[1]).bool(), -torch.inf)
    # Above 40, ln(1 + exp(o)) = o in f64 as well.
    return softplus(gaps.logsumexp(dim=1), threshold=40.0)


@dataclass
class Pairs:
    """Every pair (n, i) of an entity and one of its in-edges, ordered as the edges are. P pairs."""

    edge: torch.Tensor  # [P] positions in edge_index
    source: torch.Tensor  # [P] i
    target: torch.Tensor  # [P] n
    degree: torch.Tensor  # [P] in-degree of n
    entities: int

    def __len__(self):
        return len(self.edge)


def pairs_of(edge_index, nodes):
    """All in-edges of the given nodes; nodes without in-edges are no entities."""
    edge = torch.isin(edge_index[1], nodes).nonzero().flatten()
    source, target = edge_index[:, edge]
    degree = torch.bincount(edge_index[1])[target]
    return Pairs(edge, source, target, degree, entities=len(target.unique()))


def without(edge_index, edge):
    """The edges without the one at position `edge`."""
    return torch.cat([edge_index[:, :edge], edge_index[:, edge + 1 :]], dim=1)


@torch.no_grad()
def losses_by_deletion(scores, edge_index, y, pairs):
    """CE and CE' of every pair; `scores(edge_index)` gives the class scores of all nodes for a set of edges."""
    target = pairs.target
    ce = cross_entropy(scores(edge_index)[target], y[target])
    ce_without = [
        cross_entropy(scores(without(edge_index, edge))[n : n + 1], y[n : n + 1])
        for edge, n in zip(pairs.edge.tolist(), target.tolist())
    ]
    return ce, torch.cat(ce_without)


def network_losses(network, x, edge_index, y, pairs):
    """CE and CE' of the network: the arm `causal`."""
    return losses_by_deletion(lambda edges: network(x, edges), edge_index, y, pairs)


def vote_scores(edge_index, y, train, classes):
    """Class scores [N, C] of the neighbour vote: the share of each class among the in-neighbours with a training label.

    Labels outside `train` are not read. A node without such a neighbour has scores 0. A self-loop makes a node its own
    neighbour.
    """
    votes = torch.zeros(len(y), classes, dtype=torch.float64)
    votes[train] = one_hot(y[train], classes).double()
    counts = torch.zeros_like(votes).index_add(0, edge_index[1], votes[edge_index[0]])
    return counts / counts.sum(dim=1, keepdim=True).clamp(min=1.0)


def vote_losses(edge_index, y, train, classes, pairs):
    """CE and CE' of the neighbour vote: the arm `vote`."""
    return losses_by_deletion(lambda edges: vote_scores(edges, y, train, classes), edge_index, y, pairs)


def log_rho(ce, ce_without):
    """ln CE' - ln CE. A cross-entropy that underflowed to 0 counts as the smallest normal number."""
    tiny = torch.finfo(ce.dtype).tiny
    return ce_without.clamp(min=tiny).log() - ce.clamp(min=tiny).log()


def effect(ce, ce_without, exponent, temperature=TEMPERATURE):
    """c of every pair. `exponent` is `pairs.degree`, or 1 to leave it out."""
    power = (exponent * log_rho(ce, ce_without)).clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT).exp()
    return torch.sigmoid((power - 1.0) / temperature)


def constant_effect(pairs, dtype=torch.float64):
    """c of the control arm `constant`."""
    return torch.full((len(pairs),), 0.5, dtype=dtype)


def distribution(ce, ce_without, exponent, pairs):
    """q of every pair, a distribution over each entity's in-edges: proportional to exp(clamp(d ln rho, -2, 2))."""
    power = (exponent * log_rho(ce, ce_without)).clamp(-DISTRIBUTION_LIMIT, DISTRIBUTION_LIMIT).exp()
    return power / _sum_per_entity(power, pairs)


def constant_distribution(pairs, dtype=torch.float64):
    """q of the control arm `constant`: 1/d."""
    return 1.0 / pairs.degree.to(dtype)


def head_mean(attention, pairs):
    """abar [L, P] from every layer's attention [E, K].

    The only in-edge of an entity has abar = 1 whatever the weights are, so it is detached: autograd would form its zero
    gradient as a difference of two equal numbers, and the slope of the loss at 1 would blow its rounding error up.
    """
    abar = torch.stack([alpha.mean(dim=1)[pairs.edge] for alpha in attention])
    return torch.where(pairs.degree == 1, abar.detach(), abar)


def bce(abar, c, pairs):
    """BCE(abar, c) [L, P], logarithms not below -100; 1 - abar is the sum over the entity's other in-edges."""
    same_entity = pairs.target[:, None] == pairs.target[None, :]
    others = same_entity & ~torch.eye(len(pairs), dtype=torch.bool)
    rest = abar @ others.to(abar.dtype).T
    return -c * _log(abar) - (1.0 - c) * _log(rest)


def kl(abar, q):
    """The summands q (ln q - ln abar) [L, P] of KL(q || abar); an entity's term is their sum (`weights_of_sums`)."""
    return q * (q.log() - _log(abar))


def weights_all(pairs, dtype=torch.float64):
    """Weight of each pair in the mean over entities of the mean over their in-edges (`--rounds all`)."""
    return 1.0 / (pairs.entities * pairs.degree.to(dtype))


def weights_of_sums(pairs, dtype=torch.float64):
    """Weight of each pair in the mean over entities of the sum over their in-edges, for `kl`."""
    return torch.full((len(pairs),), 1.0 / pairs.entities, dtype=dtype)


def weights_of_rounds(rounds, pairs, dtype=torch.float64):
    """Weight of each pair in the mean over rounds of the mean over the round's pairs.

    A round lists positions in `pairs`. An empty round adds nothing and still counts in the mean.
    """
    weights = torch.zeros(len(pairs), dtype=dtype)
    for chosen in rounds:
        weights[chosen] += 1.0 / (len(rounds) * max(len(chosen), 1))
    return weights


def per_layer(terms, weights):
    """L_c of each layer [L] from the terms [L, P] of `bce` or `kl`; L_c is their mean."""
    return terms @ weights


def total_loss(prediction_loss, layer_losses, strength):
    """L_p + lambda L_c; `strength` is lambda, or one lambda per layer: L_p + (1/L) sum over l of lambda_l L_c^l."""
    return prediction_loss + (torch.as_tensor(strength, dtype=layer_losses.dtype) * layer_losses).mean()


def _log(values):
    return values.clamp(min=SMALLEST_ATTENTION).log()


def _sum_per_entity(values, pairs):
    """For every pair the sum over its entity's pairs."""
    sums = torch.zeros(int(pairs.target.max()) + 1, dtype=values.dtype)
    return sums.index_add(0, pairs.target, values)[pairs.target]

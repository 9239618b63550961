"""CAL's CausalGAT (Sui et al. 2022) for nodes, from PyTorch's and PyG's own layers, parameter for parameter carat's.

The names and shapes of `state_dict` are those of the `model.safetensors` of `carat train --model cal`, so weights and
running statistics move both ways with `load_state_dict(..., strict=True)`. `crates/carat-nn/src/cal/mod.rs` has the
equations, `docs/cal.md` says where they differ from the authors' code.
"""

import warnings

import torch
from torch.nn import BatchNorm1d, Linear
from torch.nn.functional import cross_entropy, kl_div, log_softmax, relu

with warnings.catch_warnings():
    # PyG still calls torch.jit.script when it is imported; newer torch versions grumble about it.
    warnings.simplefilter("ignore")
    from torch_geometric.nn import GATConv, GCNConv
    from torch_geometric.utils import remove_self_loops

FIRST_BIAS = 0.0001


class CausalGAT(torch.nn.Module):
    """Scores of the context, of the object, and of the object in another node's context."""

    def __init__(self, features, classes, hidden=128, heads=4, layers=2):
        super().__init__()
        self.bn_feat = BatchNorm1d(features)
        self.conv_feat = Linear(features, hidden, bias=False)
        self.bns_conv = torch.nn.ModuleList(BatchNorm1d(hidden) for _ in range(layers))
        self.convs = torch.nn.ModuleList(GATConv(hidden, hidden // heads, heads=heads) for _ in range(layers))
        self.edge_att_mlp = Linear(2 * hidden, 2)
        self.node_att_mlp = Linear(hidden, 2)
        self.bnc, self.bno = BatchNorm1d(hidden), BatchNorm1d(hidden)
        self.context_convs, self.objects_convs = GCNConv(hidden, hidden), GCNConv(hidden, hidden)
        for head in ("c", "o", "co"):
            self.add_module(f"fc1_bn_{head}", BatchNorm1d(hidden))
            self.add_module(f"fc1_{head}", Linear(hidden, hidden))
            self.add_module(f"fc2_bn_{head}", BatchNorm1d(hidden))
            self.add_module(f"fc2_{head}", Linear(hidden, classes))
        for module in self.modules():
            if isinstance(module, BatchNorm1d):
                torch.nn.init.constant_(module.bias, FIRST_BIAS)
        torch.nn.init.xavier_uniform_(self.conv_feat.weight)

    def classify(self, head, x):
        x = relu(getattr(self, f"fc1_{head}")(getattr(self, f"fc1_bn_{head}")(x)))
        return getattr(self, f"fc2_{head}")(getattr(self, f"fc2_bn_{head}")(x))

    def forward(self, x, edge_index, permutation):
        # GATConv and GCNConv both add one self-loop per node; those of the data would keep their weight in the second.
        edge_index, _ = remove_self_loops(edge_index)
        x = relu(self.conv_feat(self.bn_feat(x)))
        for norm, convolution in zip(self.bns_conv, self.convs):
            x = relu(convolution(norm(x), edge_index))
        source, target = edge_index
        edges = self.edge_att_mlp(torch.cat([x[source], x[target]], dim=1)).softmax(dim=1)
        nodes = self.node_att_mlp(x).softmax(dim=1)
        context = relu(self.context_convs(self.bnc(nodes[:, :1] * x), edge_index, edges[:, 0]))
        objects = relu(self.objects_convs(self.bno(nodes[:, 1:] * x), edge_index, edges[:, 1]))
        combined = objects + context[permutation]
        return self.classify("c", context), self.classify("o", objects), self.classify("co", combined)


def objective(scores, y, train, lambda1, lambda2):
    """NLL(object) + lambda1 KL(uniform || context) + lambda2 NLL(combined), each a mean over the training nodes."""
    context, objects, combined = (head[train] for head in scores)
    uniform = torch.full_like(context, 1.0 / context.shape[1])
    divergence = kl_div(log_softmax(context, dim=1), uniform, reduction="batchmean")
    return cross_entropy(objects, y[train]) + lambda1 * divergence + lambda2 * cross_entropy(combined, y[train])

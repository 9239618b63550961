"""The networks of carat in PyTorch Geometric (PyG), parameter for parameter.

    h      = drop(act(W1 drop_in(x) + b1))                 encoder
    h'     = drop(act(norm(attention(h) + residual(h))))   L attention layers, F -> F, heads averaged or side by side
    logits = W2 h' + b2, or W2 act([h || h']) + b2         classifier, of a node or summed over the nodes of a graph

Without a `Block` this is the paper's network: no dropout, residual, norm or activation between layers, and LeakyReLUs
of slope 0.01 in the encoder and before a classifier that reads [h || h'].

The names and shapes of `state_dict` are those of carat's `model.safetensors`, so weights move both ways with
`load_state_dict(..., strict=True)`. Batch norm's `num_batches_tracked`, which carat does not count, is left out.
"""

import warnings
from dataclasses import dataclass, fields

import torch
from torch.nn.functional import dropout, elu, gelu, leaky_relu, relu

with warnings.catch_warnings():
    # PyG still calls torch.jit.script when it is imported; newer torch versions grumble about it.
    warnings.simplefilter("ignore")
    from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, TransformerConv, global_add_pool


@dataclass(frozen=True)
class Block:
    """What stands around the layers, by carat's names of settings. The defaults are the paper's network."""

    residual: str = "none"
    norm: str = "none"
    activation: str = "none"
    join: str = "mean"
    classifier: str = "skip"
    dropout: float = 0.0
    input_dropout: float = 0.0
    attention_dropout: float = 0.0

    @classmethod
    def of_config(cls, config):
        """From carat's `config.toml`, where settings at their defaults are left out."""
        names = {field.name: field.name.replace("_", "-") for field in fields(cls)}
        return cls(**{field: config[name] for field, name in names.items() if name in config})


# Attention layers of `width` columns; `heads` says the rest as PyG's arguments do.
KINDS = {
    "gat": lambda width, heads: GATConv(width, **heads, add_self_loops=False),
    "gatv2": lambda width, heads: GATv2Conv(width, **heads, add_self_loops=False),
    "transformer": lambda width, heads: TransformerConv(width, **heads),
}

# Graph convolutions in place of attention, by the weight of an edge. They have no heads.
CONVOLUTIONS = {
    "gcn_symmetric": lambda width, heads: GCNConv(width, width),
    "gcn_none": lambda width, heads: GCNConv(width, width, normalize=False),
}

ACTIVATIONS = {
    "none": lambda x: x,
    "relu": relu,
    "elu": elu,
    "gelu": gelu,
    "leaky-relu": lambda x: leaky_relu(x, 0.01),
}

NORMS = {"layer": torch.nn.LayerNorm, "batch": torch.nn.BatchNorm1d}


class Network(torch.nn.Module):
    """Classifier of one attention kind (`gat`, `gatv2` or `transformer`), or with graph convolutions. Of nodes, or of
    graphs where `forward` is told the graph of each node and how many graphs there are."""

    def __init__(self, kind, features, classes, hidden=100, heads=3, layers=2, block=Block(), edge_features=0):
        super().__init__()
        layer = (KINDS | CONVOLUTIONS).get(kind)
        if layer is None:
            raise ValueError(f"'{kind}' is not an attention kind; choose one of {', '.join(KINDS)}")
        self.block = block
        self.activation = ACTIVATIONS[block.activation]
        self.at_the_ends = ACTIVATIONS["leaky-relu" if block.activation == "none" else block.activation]
        self.encoder = torch.nn.Linear(features, hidden)
        concat = block.join == "concat"
        heads = {
            "out_channels": hidden // heads if concat else hidden,
            "heads": heads,
            "concat": concat,
            "dropout": block.attention_dropout,
            "edge_dim": edge_features or None,
        }
        self.layers = torch.nn.ModuleList(layer(hidden, heads) for _ in range(layers))
        for layer in self.layers:
            if block.residual == "linear":
                # Two of PyG's layers have a switch of this name, which their forward passes do not read.
                vars(layer).pop("residual", None)
                layer.residual = torch.nn.Linear(hidden, hidden, bias=False)
            if block.norm != "none":
                layer.norm = NORMS[block.norm](hidden)
        self.classifier = torch.nn.Linear(2 * hidden if block.classifier == "skip" else hidden, classes)

    @classmethod
    def of_config(cls, config, features, classes, edge_features=0):
        """The network that carat trains with the settings of this `config.toml`."""
        model = config.get("model", "attention")
        if model not in ("attention", "gcn"):
            raise ValueError(f"model {model} has no network here")
        kind = config.get("arch", "gat") if model == "attention" else f"gcn_{config.get('gcn-norm', 'symmetric')}"
        sizes = {name: config[name] for name in ("hidden", "heads", "layers") if name in config}
        block = Block.of_config(config)
        return cls(kind, features, classes, **sizes, block=block, edge_features=edge_features)

    def drop(self, x, rate):
        return dropout(x, rate, self.training) if rate > 0.0 else x

    def encode(self, x):
        x = self.drop(x, self.block.input_dropout)
        return self.drop(self.at_the_ends(self.encoder(x)), self.block.dropout)

    def finish(self, layer, state, out):
        """What follows a layer, from its input and its output."""
        if self.block.residual == "add":
            out = out + state
        elif self.block.residual == "linear":
            out = out + layer.residual(state)
        if self.block.norm != "none":
            out = layer.norm(out)
        return self.drop(self.activation(out), self.block.dropout)

    def forward(self, x, edge_index, batch=None, graphs=None, edge_attr=None):
        """Logits [N, C], or [G, C]. Edge (i, j) carries a message from `edge_index[0]` to `edge_index[1]`."""
        hidden = state = self.encode(x)
        of_edges = {} if edge_attr is None else {"edge_attr": edge_attr}
        for layer in self.layers:
            state = self.finish(layer, state, layer(state, edge_index, **of_edges))
        return self.read_out(hidden, state, batch, graphs)

    def read_out(self, hidden, state, batch, graphs):
        """Logits from the encodings and the last layer's output."""
        skips = self.block.classifier == "skip"
        joined = torch.cat([hidden, state], dim=1) if skips else state
        if batch is not None:
            joined = global_add_pool(joined, batch, graphs)
        return self.classifier(self.at_the_ends(joined) if skips else joined)

    def forward_with_attention(self, x, edge_index, batch=None, graphs=None):
        """The same logits and, per layer, the attention [E, K] in the order of `edge_index`."""
        hidden = state = self.encode(x)
        attention = []
        for layer in self.layers:
            out, (edges, alpha) = layer(state, edge_index, return_attention_weights=True)
            assert torch.equal(edges, edge_index), "PyG changed the edges on the way"
            state = self.finish(layer, state, out)
            attention.append(alpha)
        return self.read_out(hidden, state, batch, graphs), attention

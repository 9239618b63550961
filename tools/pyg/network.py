"""The network of carat in PyTorch Geometric (PyG), parameter for parameter.

    h      = LeakyReLU(W1 x + b1)                        encoder, slope 0.01
    h'     = L attention layers, F -> F, heads averaged, nothing between them
    r      = [h || h'], of a node or summed over the nodes of a graph
    logits = W2 LeakyReLU(r) + b2                        classifier

Attention may read features of edges (`edge_dim`), and let every node attend to itself (`self_loops`).

The names and shapes of `state_dict` are those of carat's `model.safetensors`, so weights move both ways with
`load_state_dict(..., strict=True)`.
"""

import warnings

import torch
from torch.nn.functional import leaky_relu

with warnings.catch_warnings():
    # PyG still calls torch.jit.script when it is imported; newer torch versions grumble about it.
    warnings.simplefilter("ignore")
    from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, TransformerConv, global_add_pool



def attention(convolution, width, heads, edge_dim, self_loops):
    return convolution(width, width, heads=heads, concat=False, edge_dim=edge_dim, add_self_loops=self_loops)


KINDS = {
    "gat": lambda *sizes: attention(GATConv, *sizes),
    "gatv2": lambda *sizes: attention(GATv2Conv, *sizes),
    # PyG's adds no self-loops.
    "transformer": lambda width, heads, edge_dim, _: TransformerConv(
        width, width, heads=heads, concat=False, edge_dim=edge_dim
    ),
}

# Graph convolutions in place of attention, by the weight of an edge. They have no heads.
CONVOLUTIONS = {
    "gcn_symmetric": lambda width, *_: GCNConv(width, width),
    "gcn_none": lambda width, *_: GCNConv(width, width, normalize=False),
}


class Network(torch.nn.Module):
    """Classifier of one attention kind (`gat`, `gatv2` or `transformer`), or with graph convolutions. Of nodes, or of
    graphs where `forward` is told the graph of each node and how many graphs there are."""

    def __init__(self, kind, features, classes, hidden=100, heads=3, layers=2, edge_dim=None, self_loops=False):
        super().__init__()
        layer = (KINDS | CONVOLUTIONS).get(kind)
        if layer is None:
            raise ValueError(f"'{kind}' is not an attention kind; choose one of {', '.join(KINDS)}")
        self.encoder = torch.nn.Linear(features, hidden)
        self.layers = torch.nn.ModuleList(layer(hidden, heads, edge_dim, self_loops) for _ in range(layers))
        self.classifier = torch.nn.Linear(2 * hidden, classes)

    def forward(self, x, edge_index, batch=None, graphs=None, edge_attr=None):
        """Logits [N, C], or [G, C]. Edge (i, j) carries a message from `edge_index[0]` to `edge_index[1]`."""
        hidden = leaky_relu(self.encoder(x), 0.01)
        state = hidden
        for layer in self.layers:
            state = layer(state, edge_index) if edge_attr is None else layer(state, edge_index, edge_attr)
        return self.read_out(hidden, state, batch, graphs)

    def read_out(self, hidden, state, batch, graphs):
        """Logits from the encodings and the last layer's output."""
        joined = torch.cat([hidden, state], dim=1)
        if batch is not None:
            joined = global_add_pool(joined, batch, graphs)
        return self.classifier(leaky_relu(joined, 0.01))

    def forward_with_attention(self, x, edge_index, batch=None, graphs=None):
        """The same logits and, per layer, the attention [E, K] in the order of `edge_index`."""
        hidden = leaky_relu(self.encoder(x), 0.01)
        state, attention = hidden, []
        for layer in self.layers:
            state, (edges, alpha) = layer(state, edge_index, return_attention_weights=True)
            assert torch.equal(edges, edge_index), "PyG changed the edges on the way"
            attention.append(alpha)
        return self.read_out(hidden, state, batch, graphs), attention

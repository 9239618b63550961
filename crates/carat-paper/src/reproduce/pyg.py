"""One plain training with PyTorch Geometric on one thread, protocol best: prints its seconds and epochs as JSON.

Arguments: an .npz in carat's layout, hidden, heads, layers.
"""

import json
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, leaky_relu
from torch_geometric.nn import GATConv

torch.set_num_threads(1)
torch.manual_seed(0)
path, hidden, heads, layers = sys.argv[1], *map(int, sys.argv[2:5])
with np.load(path, allow_pickle=False) as file:
    if "x" in file:
        x = torch.from_numpy(file["x"])
    else:
        indptr, shape = file["x_indptr"].astype(np.int64), tuple(file["x_shape"])
        x = np.zeros(shape, dtype=np.float32)
        x[np.repeat(np.arange(shape[0]), np.diff(indptr)), file["x_indices"].astype(np.int64)] = file["x_data"]
        x = torch.from_numpy(x)
    edges = torch.from_numpy(file["edge_index"].astype(np.int64))
    y = torch.from_numpy(file["y"].astype(np.int64))
    train, val = (
        torch.from_numpy(np.flatnonzero(np.atleast_2d(file[f"{role}_mask"])[0])) for role in ("train", "val")
    )


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(x.shape[1], hidden)
        convolutions = [GATConv(hidden, hidden, heads, concat=False, add_self_loops=False) for _ in range(layers)]
        self.layers = nn.ModuleList(convolutions)
        self.classifier = nn.Linear(2 * hidden, int(y.max()) + 1)

    def forward(self):
        start = aggregated = leaky_relu(self.encoder(x))
        for layer in self.layers:
            aggregated = layer(aggregated, edges)
        return self.classifier(leaky_relu(torch.cat([start, aggregated], dim=1)))


network = Network()
optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
best, best_epoch, epoch = float("inf"), 0, 0
start = time.perf_counter()
while epoch < 400 and epoch - best_epoch < 20:
    epoch += 1
    optimiser.zero_grad()
    cross_entropy(network()[train], y[train]).backward()
    optimiser.step()
    with torch.no_grad():
        loss = float(cross_entropy(network()[val], y[val]))
    if loss < best:
        best, best_epoch = loss, epoch
print(json.dumps({"seconds": time.perf_counter() - start, "epochs": epoch}))

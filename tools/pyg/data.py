"""Readers for the datasets that the PyG side needs: Planetoid's raw pickles and carat's own `.npz`."""

import os
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse
import torch

PLANETOID = ("cora", "citeseer", "pubmed")


@dataclass
class Dataset:
    """A graph with features, labels and one split. Edges are ordered by target, then source: carat's edge ids."""

    name: str
    edge_index: torch.Tensor  # [2, E] int64: row 0 sources, row 1 targets
    x: torch.Tensor  # [N, D] float32, dense
    y: torch.Tensor  # [N] int64, -1 where the label is missing
    train: torch.Tensor  # node indices, ascending
    val: torch.Tensor
    test: torch.Tensor

    @property
    def num_classes(self):
        return int(self.y.max()) + 1


def data_folder(chosen=None):
    """The data folder: the flag, else CARAT_DATA, else `shared/data` beside the project."""
    if chosen:
        return Path(chosen)
    if "CARAT_DATA" in os.environ:
        return Path(os.environ["CARAT_DATA"])
    return Path(__file__).resolve().parents[3] / "shared" / "data"


def load(name, folder=None, split=0):
    """A dataset by catalogue name (Planetoid's three) or by the path of an `.npz`."""
    if name in PLANETOID:
        return read_planetoid(data_folder(folder) / "planetoid", name)
    if str(name).endswith(".npz"):
        return read_npz(name, split)
    raise SystemExit(f"'{name}' is neither one of {', '.join(PLANETOID)} nor the path of an .npz file")


def sorted_edges(src, dst, num_nodes):
    """Edges without duplicates, ordered by target, then source."""
    keys = np.unique(np.asarray(dst, dtype=np.int64) * num_nodes + np.asarray(src, dtype=np.int64))
    return torch.from_numpy(np.stack([keys % num_nodes, keys // num_nodes]))


class _PlanetoidUnpickler(pickle.Unpickler):
    """Admits only the classes that Planetoid's files need: a pickle from elsewhere cannot run code."""

    def find_class(self, module, name):
        if name in ("csr_matrix", "defaultdict", "list", "_reconstruct", "ndarray", "dtype"):
            if module.split(".")[0] in ("scipy", "numpy", "collections", "builtins", "__builtin__"):
                return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a Planetoid file")


def _unpickle(path):
    with open(path, "rb") as file:
        return _PlanetoidUnpickler(file, encoding="latin1").load()


def read_planetoid(folder, name):
    """Cora, CiteSeer or PubMed with the public split: symmetric, no duplicates, no self-loops, raw features."""
    folder = Path(folder)
    part = {key: _unpickle(folder / f"ind.{name}.{key}") for key in ("y", "tx", "ty", "allx", "ally", "graph")}
    test = np.loadtxt(folder / f"ind.{name}.test.index", dtype=np.int64)
    num_nodes = max(part["allx"].shape[0] + part["tx"].shape[0], int(test.max()) + 1)

    # Rows of tx and ty belong to the nodes that test.index lists, in that order. Nodes in its gaps (CiteSeer) keep
    # zero features and no label.
    x = np.zeros((num_nodes, part["allx"].shape[1]), dtype=np.float32)
    x[: part["allx"].shape[0]] = part["allx"].toarray()
    x[test] = part["tx"].toarray()
    one_hot = np.zeros((num_nodes, part["ally"].shape[1]))
    one_hot[: part["ally"].shape[0]] = part["ally"]
    one_hot[test] = part["ty"]
    y = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)

    src = np.concatenate([np.full(len(others), node) for node, others in part["graph"].items()])
    dst = np.concatenate([np.asarray(others, dtype=np.int64) for others in part["graph"].values()])
    src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    keep = src != dst
    num_train = part["y"].shape[0]
    return Dataset(
        name=name,
        edge_index=sorted_edges(src[keep], dst[keep], num_nodes),
        x=torch.from_numpy(x),
        y=torch.from_numpy(y.astype(np.int64)),
        train=torch.arange(num_train),
        val=torch.arange(num_train, num_train + 500),
        test=torch.from_numpy(np.sort(test)),
    )


def read_npz(path, split=0):
    """A user's graph: edge_index, x (dense or CSR parts), y, and masks as [N] or [S, N]. Self-loops are kept."""
    with np.load(path, allow_pickle=False) as file:
        if "x" in file:
            x = file["x"]
        else:
            parts = tuple(file[f"x_{key}"] for key in ("data", "indices", "indptr"))
            x = scipy.sparse.csr_matrix(parts, shape=tuple(file["x_shape"])).toarray()
        num_nodes = x.shape[0]
        src, dst = file["edge_index"]

        def nodes(role):
            if f"{role}_mask" not in file:
                return torch.empty(0, dtype=torch.int64)
            mask = np.atleast_2d(file[f"{role}_mask"])[split]
            return torch.from_numpy(np.flatnonzero(mask))

        return Dataset(
            name=Path(path).stem,
            edge_index=sorted_edges(src, dst, num_nodes),
            x=torch.from_numpy(x.astype(np.float32)),
            y=torch.from_numpy(file["y"].astype(np.int64)),
            train=nodes("train"),
            val=nodes("val"),
            test=nodes("test"),
        )

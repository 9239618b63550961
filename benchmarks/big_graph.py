#!/usr/bin/env python3
"""Writes a random graph with dense features as a .carat file of any size, larger than memory too.

    python benchmarks/big_graph.py big.carat --nodes 24000000 --features 256     # 26 GB
    carat train --data big.carat --fanout 10,10

Features are normal; a node's class is the largest of its first features, so that there is something to learn. The
layout is that of docs/mapped-format.md, of which this is a writer of its own: `carat data info --verify` reads it.
"""

import argparse
import struct
import sys
import zlib

import numpy as np

MAGIC = b"\x89CARAT\r\n"
SIZES, IN_OFFSETS, SOURCES, DENSE, LABELS, SPLITS = 1, 2, 3, 4, 8, 9
DATA, ALIGNMENT = 1088, 64
NODES_AT_ONCE = 100_000


class CaratFile:
    """Sections one after another; the head comes last."""

    def __init__(self, file):
        self.file, self.table = file, []
        file.write(bytes(DATA))

    def section(self, kind, parts):
        self.file.write(bytes(-self.file.tell() % ALIGNMENT))
        start, checksum = self.file.tell(), 0
        for part in parts:
            data = part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes()
            checksum = zlib.crc32(data, checksum)
            self.file.write(data)
        self.table.append(struct.pack("<IIQQQ", kind, checksum, start, self.file.tell() - start, 0))

    def finish(self):
        table = b"".join(self.table)
        head = MAGIC + struct.pack("<IIQI", 1, len(self.table), self.file.tell(), zlib.crc32(table))
        self.file.seek(0)
        self.file.write(head + struct.pack("<I", zlib.crc32(head)) + table)


def sources(rng, nodes, degree):
    """`degree` different in-neighbours of every node, ascending: a random start, then random steps around the ring."""
    widest = (nodes - 1) // degree
    for first in range(0, nodes, NODES_AT_ONCE):
        rows = min(NODES_AT_ONCE, nodes - first)
        steps = rng.integers(1, widest + 1, (rows, degree), dtype=np.int64)
        starts = rng.integers(0, nodes, (rows, 1), dtype=np.int64)
        yield np.sort((starts + np.cumsum(steps, axis=1)) % nodes, axis=1).astype("<u4")


def features(rng, nodes, width, classes, labels):
    for first in range(0, nodes, NODES_AT_ONCE):
        rows = rng.standard_normal((min(NODES_AT_ONCE, nodes - first), width), dtype=np.float32)
        labels[first : first + len(rows)] = rows[:, :classes].argmax(axis=1)
        yield rows.astype("<f4", copy=False)


def write(path, nodes, degree, width, classes, train, seed):
    rng = np.random.default_rng(seed)
    labels = np.zeros(nodes, "<i4")
    lists = np.split(rng.permutation(nodes)[: train + train // 5].astype("<u4"), [train, train + train // 10])
    with open(path, "wb") as file:
        carat = CaratFile(file)
        carat.section(SIZES, [struct.pack("<QQQQ", nodes, nodes * degree, width, classes) + b"random"])
        carat.section(IN_OFFSETS, [np.arange(0, nodes * degree + 1, degree, dtype="<u8")])
        carat.section(SOURCES, sources(rng, nodes, degree))
        carat.section(DENSE, features(rng, nodes, width, classes, labels))
        carat.section(LABELS, [labels])
        carat.section(SPLITS, [struct.pack("<Q3Q", 1, *map(len, lists)), *map(np.sort, lists)])
        carat.finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--nodes", type=int, default=6_000_000)
    parser.add_argument("--degree", type=int, default=10, help="in-neighbours of every node")
    parser.add_argument("--features", type=int, default=256)
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument(
        "--train", type=int, default=100_000, help="training nodes; a tenth of it each to validate and test"
    )
    parser.add_argument("--seed", type=int, default=0)
    a = parser.parse_args()
    if a.nodes <= a.degree or a.features < a.classes or a.train * 6 // 5 > a.nodes:
        sys.exit(
            "more nodes than neighbours and 1.2 times the training nodes, and as many features as classes, are needed"
        )
    write(a.file, a.nodes, a.degree, a.features, a.classes, a.train, a.seed)


if __name__ == "__main__":
    main()

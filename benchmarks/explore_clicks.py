#!/usr/bin/env python3
"""How long a click in `carat explore` takes: nodes, searches, and predictions without an edge, asked over HTTP.

    carat train --data arxiv-tape --lambda 0 --out plain
    carat train --data arxiv-tape --lambda 1 --out car
    python benchmarks/explore_clicks.py plain car

Nodes are drawn at random; of every tenth, up to three in-edges are deleted. Needs Python alone.
"""

import argparse
import json
import random
import re
import statistics
import subprocess
import time
import urllib.parse
import urllib.request

import measuring

SEARCHES = ["a", "graph", "123", "learning with noise"]


def ask(address, path):
    """Milliseconds and the answer."""
    began = time.perf_counter()
    with urllib.request.urlopen(address + path, timeout=60) as reply:
        body = reply.read()
    return (time.perf_counter() - began) * 1e3, json.loads(body)


def clicks(address, num_nodes, count, seed):
    """Milliseconds by kind of request."""
    draw = random.Random(seed)
    times = {"node": [], "without an edge": [], "search": []}
    for turn in range(count):
        node = draw.randrange(num_nodes)
        elapsed, view = ask(address, f"/api/node?id={node}")
        times["node"].append(elapsed)
        for edge in view["edges"][:3] if turn % 10 == 0 else []:
            times["without an edge"].append(ask(address, f"/api/without?src={edge['source']['id']}&dst={node}")[0])
    for words in SEARCHES:
        times["search"].append(ask(address, "/api/search?q=" + urllib.parse.quote(words))[0])
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", help="one or two run folders")
    parser.add_argument("--nodes", type=int, default=3000, help="how many nodes to look at")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--carat", default=measuring.DEFAULT_CARAT, help="the carat binary")
    arguments = parser.parse_args()
    server = subprocess.Popen([arguments.carat, "explore", *arguments.runs], stdout=subprocess.PIPE, text=True)
    try:
        found = re.search(r"http://\S+?:\d+", server.stdout.readline())
        if not found:
            parser.error("carat explore did not start; what it said is above")
        address = found.group()
        times = clicks(address, ask(address, "/api/info")[1]["nodes"], arguments.nodes, arguments.seed)
    finally:
        server.terminate()
        server.wait()
    print("| request | number | median, ms | 99 of 100 below, ms | longest, ms |\n|---|---|---|---|---|")
    for name, values in times.items():
        if values:
            below = sorted(values)[int(len(values) * 0.99)]
            print(f"| {name} | {len(values):,} | {statistics.median(values):.1f} | {below:.0f} | {max(values):.0f} |")


if __name__ == "__main__":
    main()

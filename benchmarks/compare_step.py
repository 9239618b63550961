"""Compares carat's training step with PyG's, in one run on one machine, and prints a Markdown table.

    cargo build --release
    python benchmarks/compare_step.py [--car]

With `--car` every command times its plain step and its step with causal attention regularisation (CAR), and there is a
second table.

carat and PyG take turns (A B C A B C ...); each figure is the median over the turns of each turn's median step. Turns
do not make a busy machine fair: PyG's threads wait by spinning and lose far more than carat's. So the work of other
processes during each turn is measured too, and a table made on a busy machine says so and exits with 1.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RANDOM = "random-arxiv"
RANDOM_FLAGS = "--nodes 169343 --edges 1166243 --features 128 --classes 40 --train 90941 --seed 0".split()
# Cores' worth of other processes' work that a fair turn may have beside it.
FAIR_OTHER_WORK = 0.2
# What a CAR step is: lambda 1, five rounds of interventions.
CAR_FLAGS = ["--lambda", "1", "--rounds", "5"]
DEFAULT_CASES = ["cora:gat:100:3:2", "cora:gatv2:100:3:2", "cora:transformer:100:3:2", f"{RANDOM}:gat:100:3:1"]


def busy_seconds():
    """Seconds of work of all cores since boot, and of this process's finished children. (0, 0) without /proc/stat."""
    try:
        user, nice, system, _, _, interrupt, soft_interrupt, *_ = map(
            int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        )
    except OSError:
        return 0.0, 0.0
    all_work = (user + nice + system + interrupt + soft_interrupt) / os.sysconf("SC_CLK_TCK")
    times = os.times()
    return all_work, times.children_user + times.children_system


def run_json(command):
    """Runs a command that prints one JSON document on stdout; adds `other_work`, in cores, to it."""
    start, (all_before, own_before) = time.perf_counter(), busy_seconds()
    done = subprocess.run(command, capture_output=True, text=True)
    elapsed, (all_after, own_after) = time.perf_counter() - start, busy_seconds()
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nfailed with exit code {done.returncode}:\n{done.stderr}")
    other_work = (all_after - all_before - (own_after - own_before)) / elapsed
    return json.loads(done.stdout) | {"other_work": max(other_work, 0.0)}


def random_graph(carat, cache):
    """The arXiv-sized random graph, generated once into the cache folder."""
    file = cache / "random-arxiv-seed0.npz"
    if not file.exists():
        cache.mkdir(parents=True, exist_ok=True)
        command = [*carat, "data", "generate", "random", *RANDOM_FLAGS, "--out", str(file)]
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0 or not file.exists():
            raise SystemExit(f"{' '.join(command)}\ndid not write {file}")
    return str(file)


def commands(case, arguments, carat):
    """The three commands of a case 'data:arch:hidden:heads:layers', by the name of their column."""
    data, arch, hidden, heads, layers = case.split(":")
    path = random_graph(carat, arguments.cache) if data == RANDOM else data
    common = ["--data", path, "--arch", arch, "--hidden", hidden, "--heads", heads, "--layers", layers]
    common += ["--threads", str(arguments.threads)]
    if arguments.data_dir:
        common += ["--data-dir", arguments.data_dir]
    ours = [*carat, "bench", "step", *common, "--batch-size", "1000000", "--json"]
    theirs = [sys.executable, str(ROOT / "benchmarks" / "pyg_step.py"), *common, "--seconds", str(arguments.seconds)]
    if arguments.car:
        ours += CAR_FLAGS
        theirs += ["--car", *CAR_FLAGS]
    return {"carat": ours, "whole": theirs, "field": [*theirs, "--receptive-field"]}


def measure(case, arguments, carat):
    """The median of every figure over the turns, by column."""
    turns = {name: [] for name in ("carat", "whole", "field")}
    for turn in range(arguments.turns):
        for name, command in commands(case, arguments, carat).items():
            turns[name].append(run_json(command))
            last = turns[name][-1]
            beside = f"beside {last['other_work']:.2f} cores of other work"
            times = f"{last['step_ms']:.2f} ms" + (f", CAR {last['car_step_ms']:.2f} ms" if arguments.car else "")
            print(f"{case} turn {turn + 1} {name}: {times} {beside}", file=sys.stderr)

    figures = ["step_ms", "peak_memory_mb"] + (["car_step_ms", "ratio"] if arguments.car else [])
    result = {"case": case, "turns": turns}
    for name, measured in turns.items():
        result[name] = {key: statistics.median(turn[key] for turn in measured) for key in figures}
    return result


def machine():
    """The machine in words."""
    model = platform.processor() or platform.machine()
    try:
        lines = subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("Model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, {os.cpu_count()} cores"


def markdown(titles, rows):
    lines = [f"| {' | '.join(cells)} |" for cells in (titles, *rows)]
    return "\n".join([lines[0], "|---" * len(titles) + "|", *lines[1:]])


def table(results, key="step_ms", memory=True):
    """Times, how many times faster carat is, and peak memory. For CAR steps also what they cost in plain steps."""
    car = key == "car_step_ms"
    columns = ["carat", "PyG", "PyG, receptive field"]
    titles = ["data", "arch", "F / K / L"]
    titles += [f"{column} CAR ms (ratio)" if car else f"{column} ms" for column in columns]
    titles += ["faster", "faster, receptive field"]
    titles += [f"{column} MB" for column in columns] if memory else []
    rows = []
    for result in results:
        data, arch, hidden, heads, layers = result["case"].split(":")
        ours, whole, field = parts = [result[name] for name in ("carat", "whole", "field")]
        row = [data, arch, f"{hidden} / {heads} / {layers}"]
        row += [f"{part[key]:.2f}" + (f" ({part['ratio']:.2f}x)" if car else "") for part in parts]
        row += [f"{part[key] / ours[key]:.1f}x" for part in (whole, field)]
        row += [f"{part['peak_memory_mb']:.0f}" for part in parts] if memory else []
        rows.append(row)
    return markdown(titles, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=DEFAULT_CASES, help="data:arch:hidden:heads:layers ...")
    parser.add_argument("--car", action="store_true", help="compare the step with CAR as well")
    parser.add_argument("--carat", default=str(ROOT / "target/release/carat"), help="the carat binary")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "carat-benchmarks")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0, help="how long PyG times steps in each turn")
    parser.add_argument("--out", type=Path, help="also write every turn's figures to this JSON file")
    arguments = parser.parse_args()

    carat = [arguments.carat]
    here = machine()
    results = [measure(case, arguments, carat) for case in arguments.cases]
    torch_version = results[0]["turns"]["whole"][0]["torch"]
    worst = max(turn["other_work"] for result in results for turns in result["turns"].values() for turn in turns)
    print(f"{here}; torch {torch_version}; {arguments.threads} threads; {arguments.turns} turns each; ", end="")
    print(f"at most {worst:.2f} cores of other work\n")
    # A command that times both kinds of step has one peak for both.
    print(table(results, memory=not arguments.car))
    if arguments.car:
        print(f"\nWith causal attention regularisation ({' '.join(CAR_FLAGS)}):\n")
        print(table(results, "car_step_ms"))
    if arguments.out:
        arguments.out.write_text(json.dumps({"machine": here, "torch": torch_version, "results": results}, indent=1))
    if worst > FAIR_OTHER_WORK:
        print("\nThe machine was busy: do not quote this table. PyG suffers most, so the ratios flatter carat.")
        raise SystemExit(1)


if __name__ == "__main__":
    main()

"""Compares carat's training step with PyG's, in one run on one machine, and prints a Markdown table.

    cargo build --release
    python benchmarks/compare_step.py [--car] [--preset strong]

Without a preset it is the paper's network. With `--car` every command times its plain step and its step with causal
attention regularisation (CAR), and there is a second table.

carat and PyG take turns (A B C A B C ...); each figure is the median over the turns of each turn's median step. Turns
do not make a busy machine fair: PyG's threads wait by spinning and lose far more than carat's. So the work of other
processes during each turn is measured too, and a table made on a busy machine says so and exits with 1.

The two cores of a virtual machine may share a cache in one turn and none in the next. Without one, carat's short steps
take twice as long; `carat bench step` tells which kind a turn is. Nothing tells it of PyG's turns, so PyG's median may
be of both. carat's turns of both kinds are never mixed into one median: turns without a common cache have a row of
their own, and `--patience` is the largest number of extra turns of carat until there are enough with one.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

from measuring import CAR_FLAGS, DEFAULT_CACHE, DEFAULT_CARAT, FAIR_OTHER_WORK, RANDOM, ROOT
from measuring import cores_are_apart, data_path, machine, run_json
from pages import markdown

DEFAULT_CASES = ["cora:gat:100:3:2", "cora:gatv2:100:3:2", "cora:transformer:100:3:2", f"{RANDOM}:gat:100:3:1"]


def parts_of(case):
    """Data, arch, hidden, heads and layers of a case 'data:arch:hidden:heads:layers'."""
    parts = case.rsplit(":", 4)
    if len(parts) != 5 or not all(parts) or not all(size.isdigit() for size in parts[2:]):
        raise argparse.ArgumentTypeError(
            f"'{case}' is no case: write data:arch:hidden:heads:layers, as in {DEFAULT_CASES[0]}"
        )
    return parts


def is_case(case):
    """A case as it is written, once it is known to be one."""
    parts_of(case)
    return case


def commands(case, arguments, carat):
    """The three commands of a case 'data:arch:hidden:heads:layers', by the name of their column."""
    data, arch, hidden, heads, layers = parts_of(case)
    path = data_path(data, carat, arguments.cache, arguments.data_dir)
    common = ["--data", path, "--arch", arch, "--hidden", hidden, "--heads", heads, "--layers", layers]
    common += ["--threads", str(arguments.threads), "--preset", arguments.preset]
    if arguments.data_dir:
        common += ["--data-dir", arguments.data_dir]
    ours = [*carat, "bench", "step", *common, "--batch-size", "1000000", "--json"]
    theirs = [sys.executable, str(ROOT / "benchmarks" / "pyg_step.py"), *common, "--seconds", str(arguments.seconds)]
    if arguments.car:
        ours += CAR_FLAGS
        theirs += ["--car", *CAR_FLAGS]
    return {"carat": ours, "whole": theirs, "field": [*theirs, "--receptive-field"]}


def measure(case, arguments, carat):
    """All turns by column; those of carat whose cores shared no cache in a column of their own."""
    turns = {name: [] for name in ("carat", "apart", "whole", "field")}

    def take(name, command, words):
        last = run_json(command)
        turns["apart" if name == "carat" and cores_are_apart(last) else name].append(last)
        beside = f"beside {last['other_work']:.2f} cores of other work"
        times = f"{last['step_ms']:.2f} ms" + (f", CAR {last['car_step_ms']:.2f} ms" if arguments.car else "")
        apart = f", hand-over {last['hand_over_ns']:.0f} ns" if last.get("hand_over_ns") else ""
        print(f"{case} {words} {name}: {times}{apart} {beside}", file=sys.stderr)

    lines = commands(case, arguments, carat)
    for turn in range(arguments.turns):
        for name, command in lines.items():
            take(name, command, f"turn {turn + 1}")
    for extra in range(arguments.patience):
        if len(turns["carat"]) >= arguments.turns:
            break
        take("carat", lines["carat"], f"turn {arguments.turns + extra + 1}")
    return {"case": case, "turns": turns}


def summary(turns, car):
    """The median of every figure over some turns, by column; nothing for a column without turns."""
    figures = ["step_ms", "peak_memory_mb"] + (["car_step_ms", "ratio"] if car else [])
    return {
        name: {key: statistics.median(turn[key] for turn in measured) for key in figures}
        for name, measured in turns.items()
        if measured
    }


def rows_of(result, car):
    """A result's rows: with a common cache, and without one, where carat met either."""
    found = summary(result["turns"], car)
    for name, words in (("carat", ""), ("apart", ", no common cache")):
        if name in found:
            yield f"{result['case']}{words}", {"carat": found[name], "whole": found["whole"], "field": found["field"]}


def table(results, key="step_ms", memory=True):
    """Times, how many times faster carat is, and peak memory. For CAR steps also what they cost in plain steps."""
    car = key == "car_step_ms"
    columns = ["carat", "PyG", "PyG, receptive field"]
    titles = ["data", "arch", "F / K / L"]
    titles += [f"{column} CAR ms (ratio)" if car else f"{column} ms" for column in columns]
    titles += ["faster", "faster, receptive field"]
    titles += [f"{column} MB" for column in columns] if memory else []
    rows = []
    for case, found in (row for result in results for row in rows_of(result, car)):
        data, arch, hidden, heads, layers = case.rsplit(":", 4)
        ours, whole, field = parts = [found[name] for name in ("carat", "whole", "field")]
        row = [data, arch, f"{hidden} / {heads} / {layers}"]
        row += [f"{part[key]:.2f}" + (f" ({part['ratio']:.2f}x)" if car else "") for part in parts]
        row += [f"{part[key] / ours[key]:.1f}x" for part in (whole, field)]
        row += [f"{part['peak_memory_mb']:.0f}" for part in parts] if memory else []
        rows.append(row)
    return markdown(titles, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "cases", nargs="*", type=is_case, default=DEFAULT_CASES, help="data:arch:hidden:heads:layers ..."
    )
    parser.add_argument("--car", action="store_true", help="compare the step with CAR as well")
    parser.add_argument("--preset", choices=["paper", "gat", "strong"], default="paper", help="carat's preset")
    parser.add_argument("--carat", default=DEFAULT_CARAT, help="the carat binary")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--patience", type=int, default=12, help="most extra turns of carat (default: %(default)s)")
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

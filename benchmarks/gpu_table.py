"""Compares carat's steps on this machine with PyG's on a GPU, and writes the table into docs/performance-tables.md.

    python benchmarks/pyg_gpu.py ... --out gpu.json     on the machine with the GPU
    cargo build --release
    python benchmarks/gpu_table.py gpu.json             here

Only carat is measured here; what the GPU took is in the file. Every figure is kept in the file of `--results` as soon
as it is measured.
"""

import argparse
import datetime
import json
import sys
from pathlib import Path

import measuring
from measuring import CAR_FLAGS, FAIR_OTHER_WORK, RANDOM
from pages import PAGE, RESULTS, Results, check_page, markdown, milliseconds, other_work_cell, write_table

NAMES = {RANDOM: "random graph of ogbn-arxiv's size"}
STEPS = ("step_ms", "car_step_ms")


def name_of(case):
    return ":".join(map(str, (case["data"], case["kind"], *case["size"])))


def command(case, arguments):
    """carat's step of a case, both kinds."""
    hidden, heads, layers = case["size"]
    path = measuring.data_path(case["data"], [arguments.carat], arguments.cache, arguments.data_dir)
    words = [arguments.carat, "bench", "step", "--preset", "paper", "--data", path]
    words += ["--arch", case["kind"], "--hidden", str(hidden)]
    words += ["--heads", str(heads), "--layers", str(layers), "--threads", str(arguments.threads), *CAR_FLAGS]
    words += ["--data-dir", arguments.data_dir] if arguments.data_dir else []
    return [*words, "--batch-size", "1000000", "--seconds", str(arguments.seconds), "--steps", "3", "--json"]


def row(case, ours):
    """Both kinds of step, and how many times faster carat is; below one the GPU wins."""
    cells = [NAMES.get(case["data"], case["data"]), case["kind"], " / ".join(map(str, case["size"]))]
    for key in STEPS:
        theirs = case.get(key)
        cells += [milliseconds(ours[key])]
        cells += [milliseconds(theirs), f"{theirs / ours[key]:.1f}x"] if theirs else [case.get("failed", "-"), "-"]
    return [*cells, other_work_cell(ours["other_work"])]


def verdict(pairs):
    """How often carat is faster, in one sentence."""
    small = [(case, ours) for case, ours in pairs if case["data"] != RANDOM]
    wins = [sum(case[key] > ours[key] for case, ours in small if case.get(key)) for key in STEPS]
    lost = [name_of(case) for case, ours in small if case.get("step_ms") and case["step_ms"] <= ours["step_ms"]]
    text = f"On the {len(small)} cases of the paper's datasets carat's plain step on two cores is faster than PyG's "
    text += f"on the GPU in {wins[0]}, its CAR step in {wins[1]}."
    return f"{text} The plain step is slower at {', '.join(lost)}." if lost else text


def section(machine, pairs):
    """What stands between the markers."""
    gpu = f"{machine['gpu']}, torch {machine['torch']}, torch_geometric {machine['torch_geometric']}"
    here = "; ".join(sorted({f"{ours['machine']}, {ours['threads']} threads, {ours['date']}" for _, ours in pairs}))
    caption = f"PyG: {gpu}, the whole graph, eager steps that end when the GPU has finished. carat: {here}. "
    caption += f"Milliseconds are medians; CAR is `{' '.join(CAR_FLAGS)}`. "
    caption += f"Rows beside more than {FAIR_OTHER_WORK} cores "
    caption += "of other work are not to be quoted."
    titles = ["data", "arch", "F / K / L", "carat ms", "PyG, GPU ms", "faster", "carat CAR ms", "PyG CAR, GPU ms"]
    table = markdown([*titles, "faster", "other work"], [row(case, ours) for case, ours in pairs])
    return "\n\n".join([caption, verdict(pairs), table])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpu", type=Path, help="what pyg_gpu.py wrote")
    parser.add_argument("--results", type=Path, default=RESULTS / "gpu.json", help="JSON file that keeps the figures")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write into")
    parser.add_argument(
        "--again-busy", action="store_true", help="measure again what had too much other work beside it"
    )
    parser.add_argument("--carat", default=measuring.DEFAULT_CARAT, help="the carat binary")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--cache", type=Path, default=measuring.DEFAULT_CACHE)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.5, help="how long a command times each kind of step")
    arguments = parser.parse_args()

    check_page(arguments.page, "gpu")
    found = json.loads(arguments.gpu.read_text())
    results = Results(arguments.results, measuring.build(arguments))
    pairs = []
    for number, case in enumerate(found["cases"], 1):
        ours = results.get(name_of(case))
        if ours is None or (arguments.again_busy and ours["other_work"] > FAIR_OTHER_WORK):
            about = {"date": datetime.date.today().isoformat(), "machine": measuring.machine()}
            ours = measuring.run_json(command(case, arguments)) | about | {"threads": arguments.threads}
            results.put(name_of(case), ours)
            print(f"{number} of {len(found['cases'])}: {name_of(case)} {ours['step_ms']:.2f} ms", file=sys.stderr)
        pairs.append((case, ours))
    write_table(arguments.page, "gpu", section(found["machine"], pairs))
    raise SystemExit(1 if any(ours["other_work"] > FAIR_OTHER_WORK for _, ours in pairs) else 0)


if __name__ == "__main__":
    main()

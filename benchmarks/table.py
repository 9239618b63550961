"""Builds the table of steps, carat beside PyG in one run, and writes it into docs/performance-tables.md.

    cargo build --release
    python benchmarks/table.py

Cora, PubMed, Chameleon, Squirrel and a random graph of ogbn-arxiv's size; three kinds; three sizes; plain and with
causal attention regularisation (CAR). Every case's figures are in the file of `--results` as soon as they are measured:
a run that was stopped goes on where it was when the command is given again, and `--render` rewrites the table without
measuring anything. PyG runs under a memory limit, and cases that it cannot hold say so.
"""

import argparse
import datetime
import statistics
import sys
import time
from pathlib import Path

import measuring
from measuring import CAR_FLAGS, FAIR_OTHER_WORK, RANDOM, ROOT
from pages import PAGE, RESULTS, Results, check_page, duration, markdown, milliseconds, other_work_cell, time_left
from pages import write_table

# Directed edges of each dataset: all that the order of magnitude of a case's time needs.
EDGES = {"cora": 10_556, "pubmed": 88_648, "chameleon": 36_051, "squirrel": 216_933, RANDOM: 1_166_243}
KINDS = ("gat", "gatv2", "transformer")
SIZES = ("25:1:1", "100:3:2", "200:5:2")
CASES = [f"{data}:{kind}:{size}" for data in EDGES for size in SIZES for kind in KINDS]
# The one case that is not of these sizes.
CASES.insert(CASES.index(f"{RANDOM}:gat:100:3:2"), f"{RANDOM}:gat:100:3:1")
NAMES = {RANDOM: "random graph of ogbn-arxiv's size"}
COLUMNS = ("carat", "carat_car", "whole", "field")
# Shares of the edges on which the memory of a case that does not fit is measured instead: the first pair that fits.
# Large ones first: on a small share of a small graph the line was a third too low.
PROBES = ((0.25, 0.5), (0.125, 0.25), (0.0625, 0.125), (0.03125, 0.0625))


def turns_for(seconds, most):
    """How many turns a case gets whose first turn took so long."""
    return min(most, 3 if seconds <= 90 else 2 if seconds <= 240 else 1) if most >= 1 else 1


def weight(case):
    """A case's expected share of the time: programs must start, and long steps take longer."""
    data, _, hidden, heads, layers = case.split(":")
    return 1.0 + EDGES.get(data, 1e5) * int(hidden) * int(heads) * int(layers) / 4e8


def commands(case, arguments):
    """The four commands of a turn by the name of their column."""
    data, arch, hidden, heads, layers = case.split(":")
    path = measuring.data_path(data, [arguments.carat], arguments.cache, arguments.data_dir)
    common = ["--data", path, "--arch", arch, "--hidden", hidden, "--heads", heads, "--layers", layers]
    common += ["--threads", str(arguments.threads)]
    if arguments.data_dir:
        common += ["--data-dir", arguments.data_dir]
    ours = [arguments.carat, "bench", "step", "--preset", "paper", *common, "--batch-size", "1000000", "--json"]
    ours += ["--seconds", str(arguments.seconds), "--steps", "3"]
    theirs = [sys.executable, str(ROOT / "benchmarks" / "pyg_step.py"), *common, "--car", *CAR_FLAGS]
    theirs += ["--seconds", str(arguments.seconds), "--most-seconds", str(arguments.most_seconds)]
    return {
        "carat": ours,
        "carat_car": [*ours, *CAR_FLAGS],
        "whole": theirs,
        "field": [*theirs, "--receptive-field"],
    }


def extrapolate(first, second):
    """The value at share 1 of a line through two points (share, value)."""
    (x0, y0), (x1, y1) = first, second
    return y1 + (y1 - y0) / (x1 - x0) * (1.0 - x1)


def needed_gib(command, limit, timeout):
    """GiB that the plain and the CAR step of a PyG command would take: peaks at two shares of the edges, as a line.

    All nodes stay, so what does not depend on the edges is in both points.
    """
    short = [*command, "--warm-up", "1", "--min-steps", "1", "--seconds", "0"]
    for shares in PROBES:
        # The larger share first: where it does not fit, the smaller one is of no use.
        probes = []
        for share in reversed(shares):
            probe = measuring.try_json([*short, "--edge-share", str(share)], limit, timeout)
            print(f"  memory on {share} of the edges: {in_words(probe)}", file=sys.stderr)
            if not probe.get("car_step_ms"):
                break
            probes.append((share, probe))
        if len(probes) == 2:
            keys = {"step_ms": "plain_peak_memory_mb", "car_step_ms": "peak_memory_mb"}
            lines = {step: [(share, probe[key] / 1024) for share, probe in probes] for step, key in keys.items()}
            return {step: extrapolate(*points) for step, points in lines.items()} | {"shares": shares}
    return {}


def measure(case, arguments):
    """All turns of a case and what its cells show."""
    turns = {name: [] for name in COLUMNS}
    number, wanted = 0, arguments.turns
    lines = commands(case, arguments)
    while number < wanted:
        began = time.perf_counter()
        for name, command in lines.items():
            limit = measuring.memory_limit(arguments.memory_limit)
            turn = measuring.try_json(command, limit, arguments.timeout)
            print(f"  {case} turn {number + 1} {name}: {in_words(turn)}", file=sys.stderr)
            # The row is of cores with a common cache, if they can be had; which kind PyG meets, nobody knows.
            for _ in range(arguments.patience):
                if not measuring.cores_are_apart(turn):
                    break
                turn = measuring.try_json(command, limit, arguments.timeout)
                print(f"    again, because the cores shared no cache: {in_words(turn)}", file=sys.stderr)
            turns[name].append(turn)
        number += 1
        wanted = turns_for(time.perf_counter() - began, arguments.turns)
    result = {"turns": turns, "date": datetime.date.today().isoformat(), "machine": measuring.machine()}
    result["threads"] = arguments.threads
    for name in ("whole", "field"):
        if any(out_of_memory(turn, "car_step_ms") for turn in turns[name]):
            result[f"{name}_needs_gib"] = needed_gib(lines[name], turns[name][0]["memory_limit_gib"], arguments.timeout)
    return result


def in_words(turn):
    """A turn's figures for the progress."""
    beside = f"beside {turn['other_work']:.2f} cores of other work"
    if "failed" in turn:
        return f"{turn['failed']}, {beside}"
    plain, car = (f"{turn[key]:.2f} ms" if turn.get(key) else "-" for key in ("step_ms", "car_step_ms"))
    return f"plain {plain}, CAR {car}, {turn['peak_memory_mb']:.0f} MB, {beside}"


def out_of_memory(turn, key):
    """Whether a step of a PyG turn ran into the memory limit."""
    if "failed" in turn:
        return turn["out_of_memory"]
    return turn.get(key) is None


def median(turns, key):
    """The median of a figure over the turns that have it, or None."""
    values = [turn[key] for turn in turns if turn.get(key) is not None]
    return statistics.median(values) if values else None


def cells(entry, name, key, gib_key):
    """Time, speed-up and memory cells of one column of one row, and the column's time in milliseconds or None."""
    turns = entry["turns"][name]
    memory = "plain_peak_memory_mb" if name in ("whole", "field") and key == "step_ms" else "peak_memory_mb"
    time_ms = median(turns, key)
    if time_ms is not None:
        return milliseconds(time_ms), f"{median(turns, memory):,.0f}", time_ms
    if all(out_of_memory(turn, key) for turn in turns):
        needs = entry.get(gib_key, {}).get(key)
        limit = min(turn["memory_limit_gib"] for turn in turns)
        words = f"needs about {gibibytes(needs)}" if needs and needs > limit else f"needs more than {gibibytes(limit)}"
        return f"out of memory ({words})", "-", None
    return "failed", "-", None


def gibibytes(value):
    return f"{value:.0f} GiB" if value >= 10 else f"{value:.1f} GiB"


def worst_work(entry):
    """The most other work beside any of an entry's commands."""
    return max(turn["other_work"] for turns in entry["turns"].values() for turn in turns)


def row(case, entry, key):
    """A row of the plain table (`step_ms`) or the CAR table (`car_step_ms`)."""
    data, arch, hidden, heads, layers = case.split(":")
    car = key == "car_step_ms"
    names = ("carat_car" if car else "carat", "whole", "field")
    parts = [cells(entry, name, key, f"{name}_needs_gib") for name in names]
    times = [part[0] for part in parts]
    if car:
        # carat's ratio comes from steps of both kinds that took turns.
        ratios = [median(entry["turns"][name], "ratio") for name in names]
        times = [text if ratio is None else f"{text} ({ratio:.2f}x)" for text, ratio in zip(times, ratios)]
    ours = parts[0][2]
    faster = [f"{part[2] / ours:.1f}x" if part[2] and ours else "-" for part in parts[1:]]
    memory = [part[1] for part in parts]
    sizes = f"{hidden} / {heads} / {layers}"
    return [NAMES.get(data, data), arch, sizes, *times, *faster, *memory, other_work_cell(worst_work(entry))]


def table(entries, key):
    """The Markdown table of one kind of step, from entries by case."""
    columns = ["carat", "PyG", "PyG, receptive field"]
    unit = "CAR ms (in plain steps)" if key == "car_step_ms" else "ms"
    titles = ["data", "arch", "F / K / L", *(f"{column} {unit}" for column in columns)]
    titles += ["faster", "faster, receptive field", *(f"{column} MB" for column in columns), "other work"]
    return markdown(titles, [row(case, entry, key) for case, entry in entries.items()])


def section(entries, wanted):
    """What stands between the markers."""
    some = list(entries.values())
    turns = sorted({len(entry["turns"]["carat"]) for entry in some})
    dates = sorted({entry["date"] for entry in some})
    torch = sorted({turn["torch"] for entry in some for turn in entry["turns"]["whole"] if "torch" in turn})
    caption = f"{'; '.join(sorted({entry['machine'] for entry in some}))}; torch {', '.join(torch) or 'unknown'}; "
    caption += f"{', '.join(str(n) for n in sorted({entry['threads'] for entry in some}))} threads; "
    caption += f"{' to '.join(dict.fromkeys((dates[0], dates[-1])))}; turns per case: "
    caption += f"{' to '.join(dict.fromkeys((str(turns[0]), str(turns[-1]))))}, fewer where steps are long; "
    caption += f"{len(entries)} of {wanted} cases. Milliseconds are medians over turns of each turn's median step, "
    caption += "megabytes the peak resident set; *other work* is the most cores that other processes kept busy "
    caption += f"beside a row, and rows beyond {FAIR_OTHER_WORK} are not to be quoted."
    apart = sum(any(map(measuring.cores_are_apart, e["turns"]["carat"] + e["turns"]["carat_car"])) for e in some)
    caption += f" In {apart} of the cases carat met cores without a common cache in some turn." if apart else ""
    parts = [caption, "Plain steps:", table(entries, "step_ms")]
    parts += [f"Steps with causal attention regularisation (`{' '.join(CAR_FLAGS)}`):", table(entries, "car_step_ms")]
    parts += memory_note(some)
    return "\n\n".join(parts)


def memory_note(entries):
    """How the memory of cases that do not fit was found; nothing where all fit."""
    needs = [entry[key] for entry in entries for key in ("whole_needs_gib", "field_needs_gib") if key in entry]
    if not needs:
        return []
    limits = [
        turn["memory_limit_gib"]
        for entry in entries
        for name in ("whole", "field")
        for turn in entry["turns"][name]
        if out_of_memory(turn, "car_step_ms")
    ]
    shares = sorted({tuple(need["shares"]) for need in needs if "shares" in need})
    words = " or ".join(" and ".join(f"1/{1 / share:.0f}" for share in pair) for pair in shares)
    note = f"*Out of memory*: PyG was started under a limit of {gibibytes(min(limits))}, so that the machine does "
    note += "not run out, and was refused memory."
    if words:
        note += " What it needs is where the line through its measured peaks on two smaller shares of the same "
        note += f"graph's edges ({words}; all nodes kept) meets the whole graph."
    return [note]


def render(results, cases, arguments):
    entries = {case: results.get(case) for case in cases if results.get(case)}
    if entries:
        write_table(arguments.page, "steps", section(entries, len(cases)))
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help="data:arch:hidden:heads:layers ... (default: all 46)")
    parser.add_argument("--results", type=Path, default=RESULTS / "steps.json", help="JSON file that keeps the figures")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write into")
    parser.add_argument("--render", action="store_true", help="write the table from --results, measure nothing")
    parser.add_argument(
        "--again-busy", action="store_true", help="measure again what had too much other work beside it"
    )
    parser.add_argument("--again-failed", action="store_true", help="measure again what failed")
    parser.add_argument("--carat", default=measuring.DEFAULT_CARAT, help="the carat binary")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--cache", type=Path, default=measuring.DEFAULT_CACHE)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--patience", type=int, default=8, help="most repeats where cores share no cache (default: %(default)s)"
    )
    parser.add_argument("--turns", type=int, default=3, help="most turns of a case; long ones get fewer")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long a command times each kind of step")
    parser.add_argument("--most-seconds", type=float, default=30.0, help="PyG makes fewer steps when they take longer")
    parser.add_argument("--memory-limit", type=float, help="most GiB of a command (default: what is free, less 2)")
    parser.add_argument("--timeout", type=float, default=1800.0, help="seconds after which a command is stopped")
    arguments = parser.parse_args()

    check_page(arguments.page, "steps")
    cases = arguments.cases or CASES
    # The page shows all that is measured, whatever is measured now.
    shown = list(dict.fromkeys([*CASES, *cases]))
    build = None if arguments.render else measuring.build(arguments)
    results = Results(arguments.results, build)
    todo = [case for case in cases if not arguments.render and not keep(results.get(case), arguments)]
    done, began = [], time.perf_counter()
    if not arguments.render:
        print(f"{len(cases) - len(todo)} of {len(cases)} cases are measured already", file=sys.stderr)
    for case in todo:
        results.put(case, measure(case, arguments))
        done.append(case)
        left = time_left(time.perf_counter() - began, [*map(weight, done)], [*map(weight, todo[len(done) :])])
        print(f"{case} done, {len(todo) - len(done)} cases to go, about {duration(left)} left", file=sys.stderr)
        # The page is up to date at any moment: a run may be stopped for good.
        render(results, shown, arguments)
    entries = render(results, shown, arguments)
    busy = [case for case, entry in entries.items() if worst_work(entry) > FAIR_OTHER_WORK]
    failed = [case for case, entry in entries.items() if has_failed(entry)]
    if failed:
        print(f"failed (the reasons are in {arguments.results}): {', '.join(failed)}", file=sys.stderr)
    if busy:
        print(f"the machine was busy beside {len(busy)} of {len(entries)} cases: do not quote them", file=sys.stderr)
    raise SystemExit(1 if failed or busy else 0)


def has_failed(entry):
    """Whether a command failed for another reason than memory."""
    return any("failed" in turn and not turn["out_of_memory"] for turns in entry["turns"].values() for turn in turns)


def keep(entry, arguments):
    """Whether a case need not be measured."""
    if entry is None or (arguments.again_failed and has_failed(entry)):
        return False
    return not (arguments.again_busy and worst_work(entry) > FAIR_OTHER_WORK)


if __name__ == "__main__":
    main()

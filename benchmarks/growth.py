"""Measures how the time of an epoch grows with edges, F, K, L and R.

Slopes and plots go into docs/performance-tables.md.

    cargo build --release
    python benchmarks/growth.py                    edges up to 10^7
    python benchmarks/growth.py --largest 1e8      as far as memory and time allow

An epoch is one full-batch step of `carat bench step`, plain and with causal attention regularisation (CAR), on random
graphs that `carat data generate random` makes and the cache folder keeps. One size grows, the others stay as
in `growth_page.BASE`. Figures are kept in the file of `--results` as they come; a stopped run goes on where it was.
Needs no PyG.
"""

import argparse
import datetime
import sys
import time
from pathlib import Path

import measuring
from growth_page import CLASSES, FEATURES, KINDS, TRAIN_SHARE, all_series, figure, section
from measuring import FAIR_OTHER_WORK, ROOT
from pages import PAGE, RESULTS, Results, check_page, duration, time_left, write_atomically, write_table

FIGURES = ROOT / "docs" / "figures"


def graph(settings, arguments):
    """The random graph of these settings, made once."""
    edges = settings["edges"]
    nodes = edges // settings["degree"]
    train = round(TRAIN_SHARE * nodes)
    validation = (nodes - train) // 2
    sizes = {"nodes": nodes, "edges": edges, "features": FEATURES, "classes": CLASSES}
    sizes |= {"train": train, "val": validation, "test": nodes - train - validation, "seed": 0}
    flags = [text for name, value in sizes.items() for text in (f"--{name}", str(value))]
    file = arguments.cache / f"growth-{nodes}-{edges}-{FEATURES}.npz"
    return measuring.make_file([arguments.carat, "data", "generate", "random", *flags, "--out"], file)


def command(settings, kind, car, arguments):
    line = [arguments.carat, "bench", "step", "--preset", "paper", "--json"]
    line += ["--data", graph(settings, arguments), "--arch", kind]
    for name in ("hidden", "heads", "layers"):
        line += [f"--{name}", str(settings[name])]
    line += ["--batch-size", str(settings["edges"]), "--threads", str(arguments.threads)]
    line += ["--steps", str(arguments.steps), "--seconds", str(arguments.seconds)]
    return [*line, "--lambda", "1", "--rounds", str(settings["rounds"])] if car else line


def hopeless(before, growth, limit_gib, timeout):
    """Whether a point that is `growth` times the one before would surely run out of memory or time."""
    if before is None:
        return False
    memory, seconds = before.get("peak_memory_mb"), before.get("seconds", 0.0)
    # Not all of it grows: only what would be too much with 0.7 of the growth is surely too much.
    factor = 1.0 + 0.7 * (growth - 1.0)
    too_large = limit_gib is not None and memory is not None and memory / 1024 * factor > limit_gib
    return too_large or seconds * factor > timeout


def measure(series, kind, value, before, arguments):
    """A point, with CAR where the point before had it and it is not hopeless; a series ends where plain steps do."""
    settings = series.settings(value)
    limit = measuring.memory_limit(arguments.memory_limit)
    growth = value / before["value"] if before else 1.0
    notes, entry = [], None
    if before is not None and before.get("step_ms") is None:
        notes = ["the point before could not be measured"]
        return {"value": value, "notes": notes, "other_work": 0.0} | stamp(arguments)
    for car in (True, False):
        if car and value > series.car_until:
            continue
        if car and before and before.get("car_step_ms") is None:
            notes.append("CAR left out, because the point before has none")
            continue
        if car and hopeless(before, growth, limit, arguments.timeout):
            notes.append("CAR left out, because it would take more memory or time than the limits")
            continue
        turn = measuring.try_json(command(settings, kind, car, arguments), limit, arguments.timeout)
        if "failed" not in turn:
            entry = turn
            break
        notes.append(f"{'with CAR' if car else 'plain'}: {turn['failed']}")
    return {"value": value, "notes": notes, "other_work": 0.0} | (entry or {}) | stamp(arguments)


def stamp(arguments):
    """Where and when a point was measured."""
    today = datetime.date.today().isoformat()
    return {"date": today, "machine": measuring.machine(), "threads": arguments.threads}


def weight(series, value):
    """A point's expected share of the time."""
    return 1.0 + series.settings(value)["edges"] / 1e6 * (value / series.values[0] if series.name != "edges" else 2)


def write(every, results, arguments):
    """The figures and the section, from what is measured so far."""
    points = [(series, kind, value) for series in every for value in series.values for kind in KINDS]
    entries = {
        (series.name, kind, value): entry
        for series, kind, value in points
        if (entry := results.get(series.key(kind, value)))
    }
    if not entries:
        return entries
    figures = []
    for series in every:
        drawing = figure(series, entries)
        if drawing:
            write_atomically(arguments.figures / f"growth-{series.name}.svg", drawing)
            figures.append(series)
    write_table(arguments.page, "growth", section(every, entries, figures))
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("series", nargs="*", help="edges, hidden, heads, layers, rounds (default: all)")
    parser.add_argument("--smallest", type=float, default=1e4, help="fewest edges")
    parser.add_argument("--largest", type=float, default=1e7, help="most edges")
    parser.add_argument("--fixed-edges", type=float, default=1e6, help="edges of the graph where they do not grow")
    parser.add_argument(
        "--results", type=Path, default=RESULTS / "growth.json", help="JSON file that keeps the figures"
    )
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write into")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="folder of the plots")
    parser.add_argument("--render", action="store_true", help="write plots and table from --results, measure nothing")
    parser.add_argument(
        "--again-busy", action="store_true", help="measure again what had too much other work beside it"
    )
    parser.add_argument("--carat", default=measuring.DEFAULT_CARAT, help="the carat binary")
    parser.add_argument("--cache", type=Path, default=measuring.DEFAULT_CACHE)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3, help="fewest steps that a point times")
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds that a point times at least")
    parser.add_argument("--memory-limit", type=float, help="most GiB of a command (default: what is free, less 2)")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds after which a point is given up")
    arguments = parser.parse_args()

    check_page(arguments.page, "growth")
    if arguments.fixed_edges < 1e5:
        parser.error("--fixed-edges must be at least 1e5: the graph for R has a mean degree of 100")
    every = all_series(arguments.smallest, arguments.largest, round(arguments.fixed_edges))
    unknown = set(arguments.series) - {series.name for series in every}
    if unknown:
        parser.error(f"no such series: {', '.join(sorted(unknown))}")
    results = Results(arguments.results, None if arguments.render else measuring.build(arguments))
    # The page shows all that is measured, whatever is measured now.
    chosen = [series for series in every if not arguments.series or series.name in arguments.series]
    plan = [(series, value, kind) for series in chosen for value in series.values for kind in KINDS]

    def wanted(entry):
        return entry is None or (arguments.again_busy and entry["other_work"] > FAIR_OTHER_WORK)

    keys = {place: series.key(kind, value) for place, (series, value, kind) in enumerate(plan)}
    todo = [] if arguments.render else [place for place in keys if wanted(results.get(keys[place]))]
    began, weights = time.perf_counter(), {place: weight(plan[place][0], plan[place][1]) for place in todo}
    for count, place in enumerate(todo, 1):
        series, value, kind = plan[place]
        smaller = [v for v in series.values if v < value]
        before = results.get(series.key(kind, smaller[-1])) if smaller else None
        entry = measure(series, kind, value, before, arguments)
        results.put(keys[place], entry)
        left = time_left(
            time.perf_counter() - began, [weights[p] for p in todo[:count]], [weights[p] for p in todo[count:]]
        )
        times = ", ".join(f"{name} {entry[name]:.2f}" for name in ("step_ms", "car_step_ms") if entry.get(name))
        note = "; ".join(entry["notes"])
        print(f"{keys[place]}: {times} {note} ({count} of {len(todo)}, about {duration(left)} left)", file=sys.stderr)
        write(every, results, arguments)
    entries = write(every, results, arguments)
    busy = [key for key, entry in entries.items() if entry["other_work"] > FAIR_OTHER_WORK]
    if busy:
        print(f"the machine was busy beside {len(busy)} of {len(entries)} points: do not quote them", file=sys.stderr)
    raise SystemExit(1 if busy else 0)


if __name__ == "__main__":
    main()

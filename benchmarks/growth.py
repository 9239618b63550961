"""Measures how the time of an epoch grows with edges, F, K, L and R, and writes plots and slopes into docs/performance.md.

    cargo build --release
    python benchmarks/growth.py                    edges up to 10^7
    python benchmarks/growth.py --largest 1e8      as far as memory and time allow

An epoch is one full-batch step of `carat bench step`, plain and with causal attention regularisation (CAR), on random
graphs that `carat data generate random` makes and the cache folder keeps. One size grows, the others stay as in BASE.
Figures are kept in the file of `--results` as they come; a stopped run goes on where it was. Needs no PyG.
"""

import argparse
import datetime
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import measuring
from measuring import FAIR_OTHER_WORK, ROOT
from pages import PAGE, Results, check_page, duration, markdown, milliseconds, other_work_cell, time_left
from pages import write_atomically, write_table
from plots import log_log

KINDS = ("gat", "gatv2", "transformer")
FIGURES = ROOT / "docs" / "figures"
BASE = {"edges": 1_000_000, "degree": 10, "hidden": 16, "heads": 1, "layers": 2, "rounds": 5}
FEATURES, CLASSES, TRAIN_SHARE = 16, 8, 0.6


@dataclass(frozen=True)
class Series:
    """One size that grows: its values, how it is called, what slope is to be expected, what else is set."""

    name: str
    values: tuple
    label: str
    expected: str
    others: tuple = ()
    # CAR is measured up to here.
    car_until: float = math.inf

    def settings(self, value):
        return BASE | dict(self.others) | {self.name: value}

    def key(self, kind, value):
        """The point's name in the file of results."""
        return f"{self.name}:{kind}:{value}:{self.settings(value)['edges']}-edges"


def all_series(smallest, largest):
    """The five series; edges in half powers of ten."""
    first, last = round(2 * math.log10(smallest)), round(2 * math.log10(largest))
    edges = tuple(round(10 ** (half / 2)) for half in range(first, last + 1))
    # Draws that hit the same in-edge again cost nothing, so R needs nodes with many in-edges to choose from.
    many = (("degree", 100),)
    return (
        Series("edges", edges, "edges", "1"),
        Series("hidden", (8, 16, 32, 64, 128, 256), "F, width of a layer", "1 (edges) to 2 (matrix products)"),
        Series("heads", (1, 2, 4, 8, 16), "K, heads", "1"),
        # With more layers a deletion reaches most of a random graph, and its effect costs nearly a pass of its own.
        Series("layers", (1, 2, 3, 4, 6, 8), "L, layers", "1 without CAR", car_until=4),
        Series("rounds", (1, 2, 4, 8, 16, 32), "R, rounds of interventions", "1", many),
    )


def fit_slope(points):
    """The slope of ln y over ln x by least squares over the upper half of the range of ln x; None below two points."""
    if not points:
        return None
    xs = [math.log(x) for x, _ in points]
    middle = (min(xs) + max(xs)) / 2
    upper = [(x, math.log(y)) for x, (_, y) in zip(xs, points) if x >= middle - 1e-9]
    if len(upper) < 2 or upper[0][0] == upper[-1][0]:
        return None
    mean_x, mean_y = (sum(values) / len(upper) for values in zip(*upper))
    return sum((x - mean_x) * (y - mean_y) for x, y in upper) / sum((x - mean_x) ** 2 for x, _ in upper)


def points_of(series, entries, kind, which):
    """(value, milliseconds) of a kind's measured points. For R the CAR points are what CAR adds to a plain step."""
    points = []
    for value in series.values:
        entry = entries.get((series.name, kind, value))
        time_ms = entry and entry.get(which)
        if time_ms and series.name == "rounds" and which == "car_step_ms":
            time_ms = time_ms - entry["step_ms"]
        if time_ms and time_ms > 0:
            points.append((value, time_ms))
    return points


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
    line = [arguments.carat, "bench", "step", "--data", graph(settings, arguments), "--arch", kind, "--json"]
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
        return {"value": value, "notes": ["the point before could not be measured"], "other_work": 0.0} | stamp(arguments)
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


def figure(series, entries):
    """The plot of a series as SVG, or None without points."""
    lines = []
    for number, kind in enumerate(KINDS):
        for which, words, dashed in (("step_ms", "plain", False), ("car_step_ms", "CAR", True)):
            # R is no part of a plain step.
            if series.name == "rounds" and which == "step_ms":
                continue
            points = points_of(series, entries, kind, which)
            if points:
                slope = fit_slope(points)
                name = f"{kind}, {words}" + (f": {slope:.2f}" if slope is not None else "")
                lines.append((name, points, number, dashed))
    if not lines:
        return None
    y_label = "milliseconds beyond a plain step" if series.name == "rounds" else "milliseconds per epoch"
    title = f"{'What CAR adds to' if series.name == 'rounds' else 'Time of'} an epoch against {series.label}"
    x_ticks = None if series.name == "edges" else series.values
    return log_log(title, series.label, y_label, "with fitted slopes", lines, x_ticks)


def table(every, entries):
    """Slopes, and the largest point that was measured."""
    titles = ["grows", "from", "to", "arch", "slope, plain", "slope, CAR", "expected", "plain ms at the end", "CAR ms at the end"]
    titles += ["MB at the end", "other work"]
    rows = []
    for series in every:
        for kind in KINDS:
            plain, car = (points_of(series, entries, kind, which) for which in ("step_ms", "car_step_ms"))
            if not plain:
                continue
            measured = [entries[key] for value in series.values if (key := (series.name, kind, value)) in entries]
            last = next(entry for entry in reversed(measured) if entry.get("step_ms"))
            # R is no part of a plain step.
            slopes = [None if series.name == "rounds" else fit_slope(plain), fit_slope(car)]
            row = [series.label, f"{plain[0][0]:,}", f"{plain[-1][0]:,}", kind]
            row += ["-" if slope is None else f"{slope:.2f}" for slope in slopes]
            if car and car[-1][0] < plain[-1][0]:
                row[-1] += f" (to {car[-1][0]:,})"
            row += [series.expected, milliseconds(last["step_ms"])]
            row += [milliseconds(last["car_step_ms"]) if last.get("car_step_ms") else "-", f"{last['peak_memory_mb']:,.0f}"]
            rows.append([*row, other_work_cell(max(entry["other_work"] for entry in measured))])
    return markdown(titles, rows)


def section(every, entries, figures):
    """What stands between the markers."""
    some = list(entries.values())
    caption = f"{'; '.join(sorted({entry['machine'] for entry in some}))}; {some[0]['threads']} threads; "
    caption += f"{max(entry['date'] for entry in some)}. Random graphs of mean degree {BASE['degree']}, {FEATURES} features, "
    caption += f"{TRAIN_SHARE:.0%} training nodes; unless it grows: {BASE['edges']:,} edges, F / K / L = "
    caption += f"{BASE['hidden']} / {BASE['heads']} / {BASE['layers']}, R = {BASE['rounds']}. Slopes are least-squares fits of "
    caption += "logarithms over the upper half of the range: 1 means twice the size, twice the time. For R the mean degree is "
    caption += "100, and the slope is that of what CAR adds to a plain step. Memory is with CAR where CAR was measured. "
    caption += "With CAR, L stops at 4: with more layers a deletion reaches most of a random graph. "
    caption += f"Rows with more than {FAIR_OTHER_WORK} cores of other work are not to be quoted."
    parts = [caption, table(every, entries)]
    parts += [f"![Time of an epoch against {series.label}](figures/growth-{series.name}.svg)" for series in figures]
    left_out = [(key, entry) for key, entry in entries.items() if entry["notes"]]
    if left_out:
        lines = [f"- {name} = {value:,}, {kind}: {'; '.join(entry['notes'])}" for (name, kind, value), entry in left_out]
        parts += ["Not measured:", "\n".join(lines)]
    return "\n\n".join(parts)


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
    parser.add_argument("--fixed-edges", type=float, default=BASE["edges"], help="edges of the graph where they do not grow")
    parser.add_argument("--results", type=Path, default=Path("table-growth.json"), help="JSON file that keeps the figures")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write into")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="folder of the plots")
    parser.add_argument("--render", action="store_true", help="write plots and table from --results, measure nothing")
    parser.add_argument("--again-busy", action="store_true", help="measure again what had too much other work beside it")
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
    BASE["edges"] = round(arguments.fixed_edges)
    every = all_series(arguments.smallest, arguments.largest)
    unknown = set(arguments.series) - {series.name for series in every}
    if unknown:
        parser.error(f"no such series: {', '.join(sorted(unknown))}")
    every = [series for series in every if not arguments.series or series.name in arguments.series]
    results = Results(arguments.results, None if arguments.render else measuring.build(arguments))
    plan = [(series, value, kind) for series in every for value in series.values for kind in KINDS]

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
        left = time_left(time.perf_counter() - began, [weights[p] for p in todo[:count]], [weights[p] for p in todo[count:]])
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

"""The series of `growth.py`, fits over them, and what they become on the page. Nothing here measures."""

import math
from dataclasses import dataclass

from measuring import FAIR_OTHER_WORK
from pages import markdown, milliseconds, other_work_cell
from plots import log_log

KINDS = ("gat", "gatv2", "transformer")
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


def all_series(smallest, largest, fixed=BASE["edges"]):
    """The five series: edges in half powers of ten, the others on a graph of `fixed` edges."""
    first, last = round(2 * math.log10(smallest)), round(2 * math.log10(largest))
    edges = tuple(round(10 ** (half / 2)) for half in range(first, last + 1))
    # Draws that hit the same in-edge again cost nothing, so R needs nodes with many in-edges to choose from.
    few, many = (("edges", fixed),), (("edges", fixed), ("degree", 100))
    return (
        Series("edges", edges, "edges", "1"),
        Series("hidden", (8, 16, 32, 64, 128, 256), "F, width of a layer", "1 (edges) to 2 (matrix products)", few),
        Series("heads", (1, 2, 4, 8, 16), "K, heads", "1", few),
        # With more layers a deletion changes more and more of what its target sees: a CAR step may take hundreds of
        # plain ones.
        Series("layers", (1, 2, 3, 4, 6, 8), "L, layers", "1 without CAR", few, car_until=4),
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
    titles = ["grows", "from", "to", "arch", "slope, plain", "slope, CAR", "expected"]
    titles += ["plain ms at the end", "CAR ms at the end", "MB at the end", "other work"]
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
            row += [
                milliseconds(last["car_step_ms"]) if last.get("car_step_ms") else "-",
                f"{last['peak_memory_mb']:,.0f}",
            ]
            rows.append([*row, other_work_cell(max(entry["other_work"] for entry in measured))])
    return markdown(titles, rows)


def section(every, entries, figures):
    """What stands between the markers."""
    some = list(entries.values())
    caption = f"{'; '.join(sorted({entry['machine'] for entry in some}))}; {some[0]['threads']} threads; "
    caption += f"{max(entry['date'] for entry in some)}. Random graphs of mean degree {BASE['degree']}, {FEATURES} "
    caption += "features, "
    fixed = next((series.settings(0)["edges"] for series in every if series.name != "edges"), BASE["edges"])
    caption += f"{TRAIN_SHARE:.0%} training nodes; unless it grows: {fixed:,} edges, F / K / L = {BASE['hidden']} / "
    caption += f"{BASE['heads']} / {BASE['layers']}, R = {BASE['rounds']}. Slopes are least-squares fits of "
    caption += "logarithms over the upper half of the range: 1 means twice the size, twice the time. For R the "
    caption += "mean degree is 100, and the slope is that of what CAR adds to a plain step. Memory is with CAR "
    caption += "where CAR was measured. With CAR, L stops at 4: beyond, exact effects take up to hundreds of plain "
    caption += f"steps on such graphs. Rows with more than {FAIR_OTHER_WORK} cores of other work are not to be "
    caption += "quoted."
    parts = [caption, table(every, entries)]
    parts += [f"![Time of an epoch against {series.label}](figures/growth-{series.name}.svg)" for series in figures]
    left_out = [(key, entry) for key, entry in entries.items() if entry["notes"]]
    if left_out:
        lines = [
            f"- {name} = {value:,}, {kind}: {'; '.join(entry['notes'])}" for (name, kind, value), entry in left_out
        ]
        parts += ["Not measured:", "\n".join(lines)]
    return "\n\n".join(parts)

"""Trains to the end, carat beside PyG, and computes the whole grid on Cora.

Both go into docs/performance-tables.md.

    cargo build --release
    python benchmarks/training.py

Three kinds at 100 / 3 / 2, plain and with causal attention regularisation (CAR), protocol best: both programs train
until 20 epochs brought no lower validation loss. The grid is `carat sweep --data cora --grid paper`. PyG's time for it
is extrapolated: the milliseconds of an epoch, measured for every network of the grid, times the epochs that carat's
trainings took. Figures are kept in the file of `--results` as they come; a stopped run goes on where it was.
"""

import argparse
import datetime
import json
import sqlite3
import statistics
import sys
import tempfile
from pathlib import Path

import measuring
from measuring import FAIR_OTHER_WORK, ROOT, run_json, run_watched
from pages import PAGE, RESULTS, Results, check_page, duration, markdown, milliseconds, other_work_cell, write_table

KINDS = ("gat", "gatv2", "transformer")
SIZES = "100:3:2"
STRENGTHS = ("0", "1")


def data_flags(arguments):
    return ["--data", "cora", *(["--data-dir", arguments.data_dir] if arguments.data_dir else [])]


def stamp(arguments):
    """What every entry says about where it was measured."""
    today = datetime.date.today().isoformat()
    return {"date": today, "machine": measuring.machine(), "threads": arguments.threads}


def checked(done, command):
    if done.code != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nfailed with exit code {done.code}:\n{done.stderr}")
    return done


def train_both(setting, strength, arguments):
    """All seeds of one setting with both programs."""
    arch, hidden, heads, layers = setting.split(":")
    threads = ["--threads", str(arguments.threads)]
    with tempfile.TemporaryDirectory() as folder:
        ours = []
        for seed in range(arguments.seeds):
            command = [arguments.carat, "train", "--preset", "paper", *data_flags(arguments)]
            command += ["--arch", arch, "--hidden", hidden]
            command += ["--heads", heads, "--layers", layers, "--lambda", strength, "--rounds", "5", *threads, "--json"]
            command += ["--protocol", "best", "--epochs", str(arguments.epochs), "--seed", str(seed)]
            run = run_json([*command, "--out", f"{folder}/{seed}"])
            ours.append({key: run[key] for key in ("epochs", "test_loss", "test_accuracy", "other_work")})
            ours[-1]["seconds"] = run["train_seconds"]
        out = f"{folder}/pyg.json"
        command = [sys.executable, str(ROOT / "benchmarks" / "pyg_train.py"), setting, *data_flags(arguments), *threads]
        command += ["--lambda", strength, "--seeds", str(arguments.seeds)]
        command += ["--epochs", str(arguments.epochs), "--out", out]
        done = checked(run_watched(command), command)
        theirs = json.loads(Path(out).read_text())["runs"][setting]
    work = max([done.other_work, *(run["other_work"] for run in ours)])
    return {"carat": ours, "pyg": theirs, "other_work": work} | stamp(arguments)


def sweep_grid(arguments):
    """The grid with carat: its wall time, and the epochs of every training."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/grid.db"
        command = [arguments.carat, "sweep", *data_flags(arguments), "--grid", arguments.grid, "--store", store]
        command += ["--threads", str(arguments.threads), "--json"]
        done = checked(run_watched(command), command)
        counts = json.loads(done.stdout)
        trainings = read_trainings(store)
    entry = {"seconds": done.seconds, "other_work": done.other_work, "trainings": trainings}
    return entry | {key: counts[key] for key in ("runs", "failed")} | stamp(arguments)


def read_trainings(store):
    """One row per training of a store. Runs of both protocols share a training, which lasts as long as the longer."""
    query = """SELECT arch, layers, heads, hidden, CAST(lambda AS REAL), MAX(epochs) FROM results
               WHERE epochs IS NOT NULL GROUP BY data, split, arch, layers, heads, hidden, lambda, regulariser, seed"""
    with sqlite3.connect(store) as connection:
        rows = connection.execute(query).fetchall()
    connection.close()
    return [dict(zip(("arch", "layers", "heads", "hidden", "lambda", "epochs"), row)) for row in rows]


def time_grid_epochs(threads, arguments):
    """Milliseconds of PyG's epochs for every network of the grid."""
    command = [sys.executable, str(ROOT / "benchmarks" / "pyg_grid.py"), *data_flags(arguments)]
    command += ["--threads", str(threads), "--seconds", str(arguments.seconds)]
    if arguments.networks:
        command += ["--networks", str(arguments.networks)]
    return run_json(command) | stamp(arguments)


def extrapolated_seconds(trainings, rows):
    """Seconds of all trainings one after another: epochs times a step and an evaluation of the training's network."""

    def network(row):
        return row["arch"], int(row["layers"]), int(row["heads"]), int(row["hidden"])

    by_network = {network(row): row for row in rows}
    total = 0.0
    for training in trainings:
        row = by_network[network(training)]
        step = row["car_step_ms"] if training["lambda"] > 0 else row["step_ms"]
        total += training["epochs"] * (step + row["evaluation_ms"]) / 1000.0
    return total


def training_table(entries):
    """Rows by (setting, strength)."""
    titles = ["arch", "F / K / L", "lambda", "carat s", "PyG s", "faster", "carat epochs", "PyG epochs"]
    titles += ["carat ms per epoch", "PyG ms per epoch", "carat test loss", "PyG test loss", "other work"]
    rows = []
    for (setting, strength), entry in entries.items():
        arch, *sizes = setting.split(":")
        sides = [entry["carat"], entry["pyg"]]
        seconds, epochs = (
            [statistics.median(run[key] for run in side) for side in sides] for key in ("seconds", "epochs")
        )
        per_epoch = [statistics.median(1000 * run["seconds"] / run["epochs"] for run in side) for side in sides]
        row = [arch, " / ".join(sizes), strength, *(f"{value:.2f}" for value in seconds)]
        row += [f"{seconds[1] / seconds[0]:.1f}x", *(f"{value:.0f}" for value in epochs), *map(milliseconds, per_epoch)]
        row += [spread([run["test_loss"] for run in side]) for side in sides]
        rows.append([*row, other_work_cell(entry["other_work"])])
    return markdown(titles, rows)


def spread(values):
    """Mean ± standard deviation."""
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.3f} ± {deviation:.3f}"


def grid_text(grid, pyg, name="paper"):
    """The whole grid: carat's time, measured, and PyG's, extrapolated. `pyg` has the entries by number of threads."""
    trainings, threads = grid["trainings"], grid["threads"]
    epochs = sum(training["epochs"] for training in trainings)
    totals = {count: extrapolated_seconds(trainings, entry["rows"]) for count, entry in pyg.items()}
    # Trainings side by side, one thread each, are taken to slow each other down not at all.
    ways = {count: total * count / threads for count, total in totals.items()}
    best = min(ways, key=ways.get)
    how = (
        "one thread each and side by side"
        if best == 1 and threads > 1
        else f"{best} threads each and one after another"
    )
    work = max([grid["other_work"], *(entry["other_work"] for entry in pyg.values())])
    titles = ["grid", "trainings", "epochs in all", "carat", "PyG, extrapolated", "faster", "other work"]
    row = [f"cora, {name}", f"{len(trainings):,}", f"{epochs:,}", duration(grid["seconds"]), duration(ways[best])]
    row += [f"{ways[best] / grid['seconds']:.0f}x", other_work_cell(work)]
    others = ", ".join(f"{duration(ways[count])} with {count} thread{'s' * (count > 1)} each" for count in sorted(ways))
    text = "PyG's time for the grid is extrapolated, not measured: for each network of the grid the milliseconds "
    text += "of a plain step, a CAR step and an evaluation were measured, and multiplied with the epochs that "
    text += f"carat's trainings of that network took, one evaluation per epoch. It is for trainings with {how}, the "
    text += f"faster of two ways ({others}); trainings side by side are taken not to slow each other down. carat's "
    text += f"is the wall time of one command on {threads} threads, start and reading of the data included, which "
    text += "PyG's leaves out."
    if grid["failed"]:
        text += f" {grid['failed']} of {grid['runs']} runs failed."
    return [markdown(titles, [row]), text]


def section(entries, grid, pyg, name):
    """What stands between the markers."""
    parts = []
    if entries:
        some = list(entries.values())
        machines = "; ".join(sorted({entry["machine"] for entry in some}))
        seeds, threads = len(some[0]["carat"]), some[0]["threads"]
        caption = f"{machines}; {threads} threads; {max(entry['date'] for entry in some)}; Cora, protocol best "
        caption += f"(patience 20), medians over {seeds} seeds, losses as mean ± standard deviation. Seconds are "
        caption += "those of training with its evaluation on the validation nodes after every epoch; start and "
        caption += "reading of the data are left out on both sides. PyG runs over the whole graph; with lambda 1 "
        caption += "it makes five reruns per step where carat makes exact interventions. Rows with more than "
        caption += f"{FAIR_OTHER_WORK} cores of other work are not to be quoted."
        parts += [caption, training_table(entries)]
    if grid and pyg:
        parts += ["The whole grid of the paper on Cora:", *grid_text(grid, pyg, name)]
    return "\n\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--results", type=Path, default=RESULTS / "training.json", help="JSON file that keeps the figures"
    )
    parser.add_argument("--page", type=Path, default=PAGE, help="the page to write into")
    parser.add_argument("--render", action="store_true", help="write the tables from --results, measure nothing")
    parser.add_argument(
        "--again-busy", action="store_true", help="measure again what had too much other work beside it"
    )
    parser.add_argument("--carat", default=measuring.DEFAULT_CARAT, help="the carat binary")
    parser.add_argument("--data-dir", help="data folder (default: CARAT_DATA, else ../shared/data)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=400, help="most epochs of a training")
    parser.add_argument("--seconds", type=float, default=0.5, help="how long PyG times each kind of step of the grid")
    parser.add_argument("--grid", default="paper", help="another grid, to try the script")
    parser.add_argument("--networks", type=int, help="only the first so many networks of the grid, to try the script")
    arguments = parser.parse_args()

    check_page(arguments.page, "training")
    results = Results(arguments.results, None if arguments.render else measuring.build(arguments))
    settings = {
        f"train:{kind}:{SIZES}:{strength}:{arguments.seeds}-seeds:{arguments.epochs}-epochs": (
            f"{kind}:{SIZES}",
            strength,
        )
        for kind in KINDS
        for strength in STRENGTHS
    }
    counts = sorted({1, arguments.threads})
    grid_key = f"grid:carat:{arguments.grid}"
    work = {key: lambda pair=pair: train_both(*pair, arguments) for key, pair in settings.items()}
    work[grid_key] = lambda: sweep_grid(arguments)
    pyg_keys = {count: f"grid:pyg:{count}:{arguments.networks or 'all'}-networks" for count in counts}
    work |= {pyg_keys[count]: lambda count=count: time_grid_epochs(count, arguments) for count in counts}

    def write():
        entries = {pair: results.get(key) for key, pair in settings.items() if results.get(key)}
        pyg = {count: results.get(pyg_keys[count]) for count in counts}
        pyg = pyg if all(pyg.values()) else None
        text = section(entries, results.get(grid_key), pyg, arguments.grid)
        if text:
            write_table(arguments.page, "training", text)

    def wanted(entry):
        return entry is None or (arguments.again_busy and entry["other_work"] > FAIR_OTHER_WORK)

    todo = [] if arguments.render else [key for key in work if wanted(results.get(key))]
    for place, key in enumerate(todo):
        print(f"{key} ({place + 1} of {len(todo)})", file=sys.stderr)
        results.put(key, work[key]())
        write()
    write()
    busy = [key for key in work if results.get(key) and results.get(key)["other_work"] > FAIR_OTHER_WORK]
    if busy:
        print(f"the machine was busy beside {', '.join(busy)}: do not quote them", file=sys.stderr)
    raise SystemExit(1 if busy else 0)


if __name__ == "__main__":
    main()

"""What every benchmark here needs: commands run and watched, the machine in words, graphs made once and kept.

Nothing in this file needs PyG.
"""

import hashlib
import json
import os
import platform
import resource
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEFAULT_CARAT = str(ROOT / "target/release/carat")
DEFAULT_CACHE = Path(tempfile.gettempdir()) / "carat-benchmarks"
RANDOM = "random-arxiv"
RANDOM_FLAGS = "--nodes 169343 --edges 1166243 --features 128 --classes 40 --train 90941 --seed 0".split()
# Datasets whose raw files the PyG side does not read: both programs get carat's conversion, the same file.
CONVERTED = ("chameleon", "squirrel")
# Cores' worth of other processes' work that a fair turn may have beside it.
FAIR_OTHER_WORK = 0.2
# From this time to hand over a number on, two cores share no cache.
FAR_APART_NS = 100.0
# What a CAR step is: lambda 1, five rounds of interventions.
CAR_FLAGS = ["--lambda", "1", "--rounds", "5"]
# Memory that is left to the rest of the machine when a command gets a limit.
RESERVE_GIB = 2.0
GIB = 1024**3


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


@dataclass
class Finished:
    """A command that ran: its exit code (None when it was stopped for taking too long), output, and surroundings."""

    code: int | None
    stdout: str
    stderr: str
    seconds: float
    other_work: float  # cores' worth of other processes' work meanwhile


def _limit_child(limit_bytes):
    """In the child, before the command starts: memory beyond the limit is refused, and if the machine runs out all the
    same, the kernel ends this process and no other."""

    def apply():
        # Private writable memory only: mapped libraries and files are not what runs the machine out of memory.
        resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, limit_bytes))
        try:
            Path("/proc/self/oom_score_adj").write_text("1000")
        except OSError:
            pass

    return apply


def run_watched(command, memory_limit_gib=None, timeout=None):
    """Runs a command to its end and measures what other processes did meanwhile."""
    limit = None if memory_limit_gib is None else _limit_child(int(memory_limit_gib * GIB))
    start, (all_before, own_before) = time.perf_counter(), busy_seconds()
    try:
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, timeout=timeout)
        code, stdout, stderr = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        code, stdout, stderr = None, "", f"stopped after {timeout:.0f} s"
    elapsed, (all_after, own_after) = time.perf_counter() - start, busy_seconds()
    other_work = max((all_after - all_before - (own_after - own_before)) / elapsed, 0.0)
    return Finished(code, stdout, stderr, elapsed, other_work)


def run_json(command):
    """Runs a command that prints one JSON document on stdout; adds `other_work`, in cores, to it."""
    done = run_watched(command)
    if done.code != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\nfailed with exit code {done.code}:\n{done.stderr}")
    return json.loads(done.stdout) | {"other_work": done.other_work}


def try_json(command, memory_limit_gib, timeout):
    """As `run_json` under limits, but a command that fails gives `{"failed": why}`, so that a long run goes on.

    Running into the memory limit gives `"out_of_memory": true` beside it.
    """
    done = run_watched(command, memory_limit_gib, timeout)
    extra = {"other_work": done.other_work, "seconds": done.seconds, "memory_limit_gib": memory_limit_gib}
    if done.code == 0:
        try:
            return json.loads(done.stdout) | extra
        except json.JSONDecodeError as error:
            return {"failed": f"printed no JSON document: {error}", "out_of_memory": False} | extra
    message = telling_line(done.stderr)
    why = message if done.code is None else f"exit code {done.code}: {message}"
    extra["stderr"] = done.stderr[-4000:]
    return {"failed": why, "out_of_memory": ran_out_of_memory(done.stderr)} | extra


def cores_are_apart(turn):
    """Whether the cores shared no cache in a turn of `carat bench step`, which doubles the time of its short steps."""
    return (turn.get("hand_over_ns") or 0.0) >= FAR_APART_NS


def telling_line(message):
    """The line of an error message that says most: about memory where there is one, else the last that is no note."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    memory = [line for line in lines if ran_out_of_memory(line)]
    return (memory or [line for line in lines if not line.startswith("note:")] or ["no message"])[-1]


def ran_out_of_memory(message):
    """Whether an error message of torch, Python or Rust says that memory was refused."""
    signs = ("can't allocate memory", "bad_alloc", "MemoryError", "memory allocation of", "Cannot allocate memory")
    return any(sign in message for sign in signs)


def memory_limit(most_gib=None):
    """GiB that a command may take: what the machine has free less a reserve, and no more than `most_gib`."""
    available = None
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable"):
                available = int(line.split()[1]) / 1024**2 - RESERVE_GIB
    except OSError:
        pass
    limits = [limit for limit in (available, most_gib) if limit is not None]
    return max(min(limits), 0.5) if limits else None


def machine():
    """The machine in words."""
    model = platform.processor() or platform.machine()
    try:
        lines = subprocess.run(["lscpu"], capture_output=True, text=True).stdout.splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("Model name"))
    except (OSError, StopIteration):
        pass
    memory = ""
    try:
        kilobytes = int(Path("/proc/meminfo").read_text().split("\n", 1)[0].split()[1])
        memory = f", {kilobytes / 1024**2:.0f} GiB of memory"
    except (OSError, ValueError, IndexError):
        pass
    return f"{model}, {os.cpu_count()} cores{memory}"


def file_hash(path):
    """The start of a file's SHA-256, to tell builds of the binary apart."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def build(arguments):
    """What figures must have in common to stand in one table: the binary and its threads."""
    return f"{file_hash(arguments.carat)}, {arguments.threads} threads"


def make_file(command, file):
    """Runs a command that writes `file` (its last argument names a temporary file beside it) unless it is there."""
    if file.exists():
        return str(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f"part-{os.getpid()}-{file.name}")
    full = [*command, str(temporary)]
    limit = memory_limit()
    guard = None if limit is None else _limit_child(int(limit * GIB))
    done = subprocess.run(full, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=guard)
    if done.returncode != 0 or not temporary.exists():
        temporary.unlink(missing_ok=True)
        raise SystemExit(f"{' '.join(full)}\nfailed with exit code {done.returncode}:\n{done.stderr}")
    temporary.replace(file)
    return str(file)


def random_graph(carat, cache):
    """The arXiv-sized random graph, generated once into the cache folder."""
    return make_file([*carat, "data", "generate", "random", *RANDOM_FLAGS, "--out"], cache / "random-arxiv-seed0.npz")


def data_path(name, carat, cache, data_dir=None):
    """What both programs get as `--data` for a dataset of the tables."""
    if name == RANDOM:
        return random_graph(carat, cache)
    if name in CONVERTED:
        folder = ["--data-dir", data_dir] if data_dir else []
        return make_file([*carat, "data", "convert", *folder, name], cache / f"{name}.npz")
    return name

"""Tables in Markdown, written between markers of a page, and figures kept in a JSON file as they come."""

import json
import os
from pathlib import Path

from measuring import FAIR_OTHER_WORK, ROOT

PAGE = ROOT / "docs" / "performance-tables.md"
RESULTS = ROOT / "benchmarks" / "results"


def markdown(titles, rows):
    """A Markdown table."""
    lines = [f"| {' | '.join(cells)} |" for cells in (titles, *rows)]
    return "\n".join([lines[0], "|---" * len(titles) + "|", *lines[1:]])


def milliseconds(value):
    """Three figures or so: 0.84, 12.3, 448, 4,434."""
    if value < 10:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def duration(seconds):
    """45 s, 3 min 5 s, 2 h 10 min."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"


def time_left(elapsed, done, left):
    """Seconds that work of the weights `left` will take, given that work of the weights `done` took `elapsed`."""
    return elapsed / sum(done) * sum(left) if done else None


def other_work_cell(cores):
    """Cores of other work beside a row, marked when they make it unfit to be quoted."""
    return f"**{cores:.2f}, busy**" if cores > FAIR_OTHER_WORK else f"{cores:.2f}"


def markers(name):
    return f"<!-- table:{name} begin -->", f"<!-- table:{name} end -->"


def replace_between(text, name, content):
    """The page with `content` between the two markers of `name`. ValueError when they are not there exactly once."""
    begin, end = markers(name)
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"the page needs the lines '{begin}' and '{end}', once each and in this order")
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n\n{content.strip()}\n\n{end}{after}"


def write_atomically(path, text):
    """Writes to a temporary name, then renames: nobody sees half a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text)
    temporary.replace(path)


def check_page(page, name):
    """Refuses a page without the markers, before hours are spent on measuring."""
    try:
        replace_between(Path(page).read_text(), name, "")
    except (OSError, ValueError) as error:
        raise SystemExit(f"{page}: {error}")


def write_table(page, name, content):
    write_atomically(page, replace_between(Path(page).read_text(), name, content))


class Results:
    """Figures by key in a JSON file that is written after every one, so that a stopped run goes on where it was.

    Every entry is kept with the build (`measuring.build`) that it was measured with. An entry of another build counts
    as not measured: a table shows one. Without a build (None), for writing a table again, all entries count.
    """

    def __init__(self, path, build):
        self.path, self.build, self.entries = Path(path), build, {}
        if self.path.exists():
            try:
                self.entries = json.loads(self.path.read_text())["entries"]
            except (json.JSONDecodeError, KeyError, TypeError) as error:
                raise SystemExit(f"{self.path} is not a file of results ({error!r}); name another with --results")

    def get(self, key):
        """The entry of this build, or None."""
        entry = self.entries.get(key)
        return entry if entry and (self.build is None or entry.get("build") == self.build) else None

    def put(self, key, entry):
        self.entries[key] = entry | {"build": self.build}
        write_atomically(self.path, json.dumps({"entries": self.entries}, indent=1) + "\n")

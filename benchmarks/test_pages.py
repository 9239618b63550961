"""Tables, markers and results: what the benchmark scripts write."""

import json
import tempfile
import unittest
from pathlib import Path

import pages


class Markers(unittest.TestCase):
    page = (
        "before\n<!-- table:steps begin -->\nold\n<!-- table:steps end -->\nafter\n"
        "<!-- table:growth begin -->\n<!-- table:growth end -->\n"
    )

    def test_only_what_lies_between_is_replaced(self):
        new = pages.replace_between(self.page, "steps", "\n| new |\n")
        self.assertEqual(
            new,
            "before\n<!-- table:steps begin -->\n\n| new |\n\n<!-- table:steps end -->\nafter\n"
            "<!-- table:growth begin -->\n<!-- table:growth end -->\n",
        )
        self.assertEqual(pages.replace_between(new, "steps", "| new |"), new)

    def test_missing_doubled_and_turned_markers_are_refused(self):
        begin, end = pages.markers("steps")
        for text in ("no markers", begin, f"{end}\n{begin}", f"{begin}{end}{begin}{end}"):
            with self.assertRaises(ValueError, msg=text):
                pages.replace_between(text, "steps", "new")

    def test_a_page_without_markers_is_refused_before_measuring(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            page.write_text(self.page)
            pages.check_page(page, "growth")
            with self.assertRaises(SystemExit):
                pages.check_page(page, "training")
            with self.assertRaises(SystemExit):
                pages.check_page(Path(folder) / "none.md", "steps")

    def test_the_real_page_has_all_markers(self):
        for name in ("steps", "training", "growth"):
            pages.check_page(pages.PAGE, name)


class Cells(unittest.TestCase):
    def test_markdown(self):
        self.assertEqual(pages.markdown(["a", "b"], [["1", "2"]]), "| a | b |\n|---|---|\n| 1 | 2 |")

    def test_numbers(self):
        times = [pages.milliseconds(value) for value in (0.842, 12.34, 448.2, 4434.4)]
        self.assertEqual(times, ["0.84", "12.3", "448", "4,434"])
        self.assertEqual([pages.duration(value) for value in (45, 185, 7800)], ["45 s", "3 min 5 s", "2 h 10 min"])

    def test_a_busy_row_says_so(self):
        self.assertEqual(pages.other_work_cell(0.03), "0.03")
        self.assertIn("busy", pages.other_work_cell(0.3))

    def test_time_left(self):
        self.assertEqual(pages.time_left(10.0, [1, 1], [3]), 15.0)
        self.assertIsNone(pages.time_left(0.0, [], [1]))


class Resuming(unittest.TestCase):
    def test_a_new_process_finds_what_is_there(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "new" / "results.json"
            first = pages.Results(file, "build 1")
            self.assertIsNone(first.get("case"))
            first.put("case", {"step_ms": 2.0})
            self.assertEqual(pages.Results(file, "build 1").get("case")["step_ms"], 2.0)
            self.assertEqual([path.name for path in file.parent.iterdir()], ["results.json"])

    def test_figures_of_another_build_are_measured_again_but_can_be_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "results.json"
            pages.Results(file, "build 1").put("case", {"step_ms": 2.0})
            self.assertIsNone(pages.Results(file, "build 2").get("case"))
            self.assertIsNotNone(pages.Results(file, None).get("case"))

    def test_a_broken_file_is_not_overwritten(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "results.json"
            for text in ("{", json.dumps([]), json.dumps({"other": 1})):
                file.write_text(text)
                with self.assertRaises(SystemExit, msg=text):
                    pages.Results(file, "build")
                self.assertEqual(file.read_text(), text)


if __name__ == "__main__":
    unittest.main()

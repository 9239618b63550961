"""The table of steps, from made-up figures."""

import argparse
import unittest

import table


def carat(ms, car_ms=None, work=0.01):
    ratio = car_ms / ms if car_ms else None
    return {"step_ms": ms, "car_step_ms": car_ms, "ratio": ratio, "peak_memory_mb": 20.0, "other_work": work} | LIMIT


def pyg(ms, car_ms):
    ratio = car_ms / ms if ms and car_ms else None
    memory = {"plain_peak_memory_mb": 800.0, "peak_memory_mb": 900.0, "torch": "2.15.0"}
    return {"step_ms": ms, "car_step_ms": car_ms, "ratio": ratio, "other_work": 0.02} | memory | LIMIT


LIMIT = {"memory_limit_gib": 20.0}


def entry(whole, field, work=0.01, **more):
    turns = {"carat": [carat(2.0, work=work)], "carat_car": [carat(2.0, 2.5)], "whole": whole, "field": field}
    return {"turns": turns, "date": "2026-11-15", "machine": "a machine", "threads": 2} | more


class Rows(unittest.TestCase):
    def test_plain_row(self):
        whole = [pyg(50.0, 150.0), pyg(60.0, 180.0), pyg(90.0, 270.0)]
        row = table.row("cora:gat:100:3:2", entry(whole, [pyg(20.0, 60.0)]), "step_ms")
        self.assertEqual(row[:6], ["cora", "gat", "100 / 3 / 2", "2.00", "60.0", "20.0"])
        self.assertEqual(row[6:], ["30.0x", "10.0x", "20", "800", "800", "0.02"])

    def test_car_row_has_ratios_and_the_peak_of_both_steps(self):
        row = table.row("cora:gat:100:3:2", entry([pyg(50.0, 150.0)], [pyg(20.0, 60.0)]), "car_step_ms")
        self.assertEqual(row[3:6], ["2.50 (1.25x)", "150 (3.00x)", "60.0 (3.00x)"])
        self.assertEqual(row[6:8], ["60.0x", "24.0x"])
        self.assertEqual(row[8:11], ["20", "900", "900"])

    def test_what_does_not_fit_says_what_it_needs(self):
        needs = {"step_ms": 40.2, "car_step_ms": 45.0, "shares": [0.125, 0.25]}
        result = entry([pyg(None, None)], [pyg(20.0, None)], whole_needs_gib=needs, field_needs_gib={})
        row = table.row("cora:gat:100:3:2", result, "step_ms")
        self.assertEqual(row[4:8], ["out of memory (needs about 40 GiB)", "20.0", "-", "10.0x"])
        row = table.row("cora:gat:100:3:2", result, "car_step_ms")
        self.assertEqual(row[5], "out of memory (needs more than 20 GiB)")
        text = table.section({"cora:gat:100:3:2": result}, 46)
        self.assertIn("1/8 and 1/4", text)
        self.assertIn("1 of 46 cases", text)

    def test_an_estimate_below_the_limit_is_not_shown(self):
        result = entry([pyg(None, None)], [pyg(1.0, 2.0)], whole_needs_gib={"step_ms": 3.0, "car_step_ms": 3.0})
        self.assertEqual(table.row("cora:gat:1:1:1", result, "step_ms")[4], "out of memory (needs more than 20 GiB)")

    def test_a_failure_is_not_called_memory(self):
        broken = {"failed": "exit code 1: no data", "out_of_memory": False, "other_work": 0.0} | LIMIT
        result = entry([broken], [pyg(20.0, 60.0)])
        self.assertEqual(table.row("cora:gat:100:3:2", result, "step_ms")[4], "failed")
        self.assertTrue(table.has_failed(result))

    def test_a_busy_row_is_marked(self):
        row = table.row("cora:gat:100:3:2", entry([pyg(50.0, 150.0)], [pyg(20.0, 60.0)], work=0.5), "step_ms")
        self.assertEqual(row[-1], "**0.50, busy**")


class Planning(unittest.TestCase):
    def test_all_cases(self):
        self.assertEqual(len(table.CASES), 5 * 3 * 3 + 1)
        self.assertEqual(len(set(table.CASES)), len(table.CASES))

    def test_long_cases_get_fewer_turns(self):
        self.assertEqual([table.turns_for(seconds, 3) for seconds in (20, 200, 2000)], [3, 2, 1])
        self.assertEqual(table.turns_for(20, 1), 1)

    def test_memory_is_extrapolated_along_a_line(self):
        self.assertAlmostEqual(table.extrapolate((0.25, 10.5), (0.125, 5.5)), 40.5)

    def test_what_is_measured_again(self):
        flags = argparse.Namespace(again_busy=False, again_failed=False)
        again = argparse.Namespace(again_busy=True, again_failed=True)
        fine = entry([pyg(50.0, 150.0)], [pyg(20.0, 60.0)])
        busy = entry([pyg(50.0, 150.0)], [pyg(20.0, 60.0)], work=0.5)
        self.assertFalse(table.keep(None, flags))
        self.assertTrue(table.keep(fine, flags) and table.keep(busy, flags) and table.keep(fine, again))
        self.assertFalse(table.keep(busy, again))


if __name__ == "__main__":
    unittest.main()

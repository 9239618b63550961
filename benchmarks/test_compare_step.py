"""Turns with and without a common cache are never mixed."""

import argparse
import unittest

import compare_step
import measuring


def turn(step_ms, hand_over_ns=None):
    return {
        "step_ms": step_ms,
        "car_step_ms": 2 * step_ms,
        "ratio": 2.0,
        "peak_memory_mb": 10.0,
        "hand_over_ns": hand_over_ns,
    }


class Rows(unittest.TestCase):
    def result(self, carat, apart):
        return {
            "case": "cora:gat:100:3:2",
            "turns": {"carat": carat, "apart": apart, "whole": [turn(50.0)], "field": [turn(30.0)]},
        }

    def test_a_turn_whose_cores_share_no_cache_is_told_apart(self):
        self.assertTrue(measuring.cores_are_apart(turn(1.0, 190.0)))
        self.assertFalse(measuring.cores_are_apart(turn(1.0, 40.0)))
        self.assertFalse(measuring.cores_are_apart(turn(1.0)))

    def test_both_kinds_of_turns_have_their_rows(self):
        text = compare_step.table(
            [self.result([turn(2.0, 40.0), turn(2.5, 40.0), turn(2.0, 40.0)], [turn(4.0, 200.0)])]
        )
        self.assertIn("| cora | gat | 100 / 3 / 2 | 2.00 | 50.00 | 30.00 | 25.0x | 15.0x |", text)
        self.assertIn("| cora | gat | 100 / 3 / 2, no common cache | 4.00 | 50.00 | 30.00 | 12.5x | 7.5x |", text)

    def test_a_kind_that_was_not_met_has_none(self):
        self.assertNotIn("no common cache", compare_step.table([self.result([turn(2.0)], [])], "car_step_ms"))
        self.assertEqual(len(list(compare_step.rows_of(self.result([], [turn(4.0)]), True))), 1)


class Cases(unittest.TestCase):
    def test_a_case_has_five_parts(self):
        self.assertEqual(compare_step.parts_of("cora:gat:100:3:2"), ["cora", "gat", "100", "3", "2"])
        for case in ["cora", "cora:gat:100:3", "cora:gat:100:3:two", ":gat:100:3:2", ""]:
            with self.assertRaises(argparse.ArgumentTypeError, msg=case):
                compare_step.is_case(case)


if __name__ == "__main__":
    unittest.main()

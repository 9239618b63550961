"""Runs, rows, stopping and figures of compare_accuracy.py, none of which needs torch or carat."""

import math
import tempfile
import unittest
from pathlib import Path

import compare_accuracy as compare


class Runs(unittest.TestCase):
    def test_a_run_is_a_seed_a_split_or_a_fold(self):
        self.assertEqual(compare.runs_of("cora", 2), [["--seed", "0"], ["--seed", "1"]])
        self.assertEqual(compare.runs_of("wisconsin", 12)[-1], ["--split", "9", "--seed", "9"])
        self.assertEqual(compare.runs_of("MUTAG", 1), [["--folds", "10", "--split", "0"]])
        self.assertEqual(len(compare.runs_of("MUTAG", 99)), compare.FOLDS)

    def test_the_parts_come_from_predictions(self):
        lines = ["graph,label,split,p_0\n", "0,1,train,0.5\n", "1,0,test,0.5\n", "2,0,val,0.5\n", "3,,,0.5\n"]
        self.assertEqual(compare.parts_of(lines), [[0], [2], [1]])

    def test_runs_are_kept_and_not_made_again(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "new" / "runs.json"
            self.assertEqual(compare.Results(path).get("a", lambda: 0.5), 0.5)
            self.assertEqual(compare.Results(path).get("a", lambda: self.fail("made again")), 0.5)


class Table(unittest.TestCase):
    def test_a_row_has_means_and_deviations(self):
        row = compare.row("minesweeper", "tuned", "roc_auc", [0.9, 0.92], [])
        self.assertEqual(row, "| minesweeper | ROC AUC | tuned | 2 | 0.910 ± 0.014 | - |")
        self.assertEqual(compare.spread([0.5]), "0.500")
        self.assertEqual(compare.HEAD.splitlines()[0].count("|"), row.count("|"))


class Rule(unittest.TestCase):
    def epochs(self, config, losses):
        """The epochs that a run with these validation losses makes, and its best one."""
        stopping = compare.Stopping(config, len(losses))
        for loss in losses:
            stopping.is_best(-loss, loss, loss < 1.0)
            if stopping.is_over():
                break
        return stopping.epoch, stopping.best_epoch

    def test_patience_counts_from_the_best_epoch(self):
        self.assertEqual(self.epochs({"patience": 2}, [0.9, 0.8, 0.85, 0.9, 0.1]), (4, 2))
        self.assertEqual(self.epochs({"patience": 2}, [3.0, 3.1, 3.2, 0.5]), (3, 1))

    def test_a_network_that_has_not_begun_to_learn_gets_more(self):
        config = {"patience": 2, "patience-from": "learning"}
        self.assertEqual(self.epochs(config, [3.0] * 9 + [0.5, 0.6, 0.7, 0.1]), (12, 10))

    def test_of_equal_figures_the_lower_loss_is_better(self):
        stopping = compare.Stopping({}, 9)
        self.assertTrue(stopping.is_best(0.5, 1.0, True))
        self.assertFalse(stopping.is_best(0.5, 1.0, True))
        self.assertTrue(stopping.is_best(0.5, 0.9, True))
        self.assertFalse(stopping.is_best(0.9, math.nan, True))

    def test_auto_selects_as_carat_does(self):
        auto = {"select": "auto"}
        self.assertEqual(compare.selected_by(auto, [5, 5]), "auc")
        self.assertEqual(compare.selected_by(auto, [8, 2, 1]), "auc")
        self.assertEqual(compare.selected_by(auto, [3, 4, 3]), "accuracy")
        self.assertEqual(compare.selected_by({}, [5, 5]), "loss")

    def test_the_loss_of_shares_is_their_entropy(self):
        self.assertAlmostEqual(compare.loss_of_shares([0, 0, 1], [5, 2], [1.0, 1.0]), math.log(3) - 2 / 3 * math.log(2))


class Auc(unittest.TestCase):
    def test_pairs_in_the_right_order_count_and_ties_half(self):
        self.assertEqual(compare.roc_auc([0.1, 0.4, 0.35, 0.8], [False, False, True, True]), 0.75)
        self.assertEqual(compare.roc_auc([1.0, 1.0, 0.0], [True, False, False]), 0.75)
        self.assertEqual(compare.roc_auc([0.0, 0.0], [1, 0]), 0.5)


if __name__ == "__main__":
    unittest.main()

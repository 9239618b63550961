"""The table of trainings and the extrapolated grid, from made-up figures."""

import unittest

import training

ROWS = [
    {"arch": "gat", "layers": 1, "heads": 1, "hidden": 10, "step_ms": 10.0, "car_step_ms": 40.0, "evaluation_ms": 5.0},
    {"arch": "gat", "layers": 2, "heads": 1, "hidden": 10, "step_ms": 20.0, "car_step_ms": 80.0, "evaluation_ms": 10.0},
]


def one(layers, strength, epochs):
    return {"arch": "gat", "layers": layers, "heads": 1, "hidden": 10, "lambda": strength, "epochs": epochs}


class Grid(unittest.TestCase):
    trainings = [one(1, 0.0, 100), one(1, 0.5, 100), one(2, 1.0, 10)]

    def test_epochs_times_step_and_evaluation(self):
        # 100 x 15 ms + 100 x 45 ms + 10 x 90 ms
        self.assertAlmostEqual(training.extrapolated_seconds(self.trainings, ROWS), 6.9)

    def test_a_network_that_was_not_timed_is_an_error(self):
        with self.assertRaises(KeyError):
            training.extrapolated_seconds([one(3, 0.0, 1)], ROWS)

    def test_the_faster_way_counts_and_the_text_says_extrapolated(self):
        grid = {"trainings": self.trainings, "threads": 2, "seconds": 0.69, "other_work": 0.0, "failed": 0, "runs": 6}
        # One thread is as fast as two here, so trainings side by side take half the time.
        pyg = {count: {"rows": ROWS, "other_work": 0.0} for count in (1, 2)}
        table, text = training.grid_text(grid, pyg)
        self.assertIn("| 3 | 210 | 1 s | 3 s | 5x |", table)
        self.assertIn("extrapolated, not measured", text)
        self.assertIn("one thread each and side by side", text)


class Trainings(unittest.TestCase):
    def test_row(self):
        ours = [{"seconds": s, "epochs": 50, "test_loss": loss} for s, loss in ((0.1, 0.8), (0.2, 0.9), (0.3, 1.0))]
        theirs = [{"seconds": 10.0, "epochs": 100, "test_loss": 0.9}]
        entry = {"carat": ours, "pyg": theirs, "other_work": 0.1}
        row = training.training_table({("gat:100:3:2", "1"): entry}).splitlines()[-1]
        self.assertEqual(
            row,
            "| gat | 100 / 3 / 2 | 1 | 0.20 | 10.00 | 50.0x | 50 | 100 | 4.00 | 100 "
            "| 0.900 ± 0.100 | 0.900 ± 0.000 | 0.10 |",
        )


if __name__ == "__main__":
    unittest.main()

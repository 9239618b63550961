"""The table of PyG on a GPU, from made-up figures."""

import unittest

import gpu_table

OURS = {
    "step_ms": 2.0,
    "car_step_ms": 2.5,
    "other_work": 0.01,
    "machine": "a machine",
    "threads": 2,
    "date": "2026-11-15",
}


def case(data="cora", **figures):
    return {"data": data, "kind": "gat", "size": [100, 3, 2]} | figures


class Rows(unittest.TestCase):
    def test_how_many_times_faster(self):
        row = gpu_table.row(case(step_ms=5.0, car_step_ms=20.0), OURS)
        self.assertEqual(row, ["cora", "gat", "100 / 3 / 2", "2.00", "5.00", "2.5x", "2.50", "20.0", "8.0x", "0.01"])

    def test_what_the_gpu_cannot_hold(self):
        row = gpu_table.row(case(failed="out of GPU memory"), OURS)
        self.assertEqual(row[3:9], ["2.00", "out of GPU memory", "-", "2.50", "out of GPU memory", "-"])


class Verdict(unittest.TestCase):
    def test_counts_and_names_what_is_lost(self):
        pairs = [(case(step_ms=5.0, car_step_ms=20.0), OURS), (case("squirrel", step_ms=1.0, car_step_ms=9.0), OURS)]
        pairs.append((case("random-arxiv", step_ms=1.0, car_step_ms=1.0), OURS))
        text = gpu_table.verdict(pairs)
        self.assertIn("On the 2 cases", text)
        self.assertIn("GPU in 1, its CAR step in 2.", text)
        self.assertTrue(text.endswith("slower at squirrel:gat:100:3:2."))


if __name__ == "__main__":
    unittest.main()

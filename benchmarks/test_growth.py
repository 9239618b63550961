"""Slopes, series and plots, from made-up figures."""

import unittest
import xml.etree.ElementTree as ElementTree

import growth
import growth_page
import plots


class Slopes(unittest.TestCase):
    def test_a_power_law_gives_its_exponent(self):
        for exponent in (0.5, 1.0, 2.0):
            points = [(x, 3.0 * x**exponent) for x in (1, 2, 4, 8, 16)]
            self.assertAlmostEqual(growth_page.fit_slope(points), exponent)

    def test_only_the_upper_half_counts(self):
        # A fixed cost hides the growth of small sizes.
        points = [(10, 5.0), (100, 5.0), (1000, 10.0), (10000, 100.0), (100000, 1000.0)]
        self.assertAlmostEqual(growth_page.fit_slope(points), 1.0)

    def test_least_squares(self):
        # Logarithms to base 10, upper half of 0 to 4: (2, 2), (3, 4), (4, 4): slope 1.
        points = [(1, 1.0), (10**2, 1e2), (10**3, 1e4), (10**4, 1e4)]
        self.assertAlmostEqual(growth_page.fit_slope(points), 1.0)

    def test_too_few_points_have_no_slope(self):
        self.assertIsNone(growth_page.fit_slope([]))
        self.assertIsNone(growth_page.fit_slope([(1, 1.0)]))
        self.assertIsNone(growth_page.fit_slope([(1, 1.0), (10, 1.0)]))


def point(ms, car_ms=None, **more):
    stamp = {"other_work": 0.0, "notes": [], "peak_memory_mb": 10.0, "machine": "m", "date": "2026-11-15", "threads": 2}
    return stamp | {"step_ms": ms, "car_step_ms": car_ms} | more


class Sections(unittest.TestCase):
    def test_edges_grow_by_half_powers_of_ten(self):
        edges = growth_page.all_series(1e4, 1e6)[0]
        self.assertEqual(edges.values, (10_000, 31_623, 100_000, 316_228, 1_000_000))

    def test_what_car_adds_grows_with_the_rounds(self):
        rounds = growth_page.all_series(1e4, 1e6)[-1]
        entries = {("rounds", "gat", value): point(10.0, 10.0 + 2.0 * value) for value in rounds.values}
        points = growth_page.points_of(rounds, entries, "gat", "car_step_ms")
        self.assertAlmostEqual(growth_page.fit_slope(points), 1.0)

    def test_table_and_notes(self):
        series = growth_page.all_series(1e4, 1e5)[0]
        times = zip(series.values, (1.0, 3.16228, 10.0))
        entries = {("edges", "gat", value): point(ms, None if ms > 5 else 2 * ms) for value, ms in times}
        entries[("edges", "gat", 100_000)]["notes"] = ["with CAR: stopped after 600 s"]
        text = growth_page.section([series], entries, [series])
        self.assertIn("| edges | 10,000 | 100,000 | gat | 1.00 |", text)
        self.assertIn("- edges = 100,000, gat: with CAR: stopped after 600 s", text)
        self.assertIn("(figures/growth-edges.svg)", text)

    def test_what_is_not_even_tried(self):
        before = {"peak_memory_mb": 10 * 1024.0, "seconds": 10.0}
        self.assertTrue(growth.hopeless(before, 10.0, 20.0, 600.0))
        self.assertFalse(growth.hopeless(before, 1.5, 20.0, 600.0))
        self.assertTrue(growth.hopeless(before, 10.0, None, 60.0))
        self.assertFalse(growth.hopeless(None, 10.0, 1.0, 1.0))


class Plots(unittest.TestCase):
    def test_a_plot_is_well_formed_and_keeps_within_its_frame(self):
        series = [("a < b", [(10, 0.5), (1000, 50.0)], 0, False), ("c", [(100, 7.0)], 2, True)]
        root = ElementTree.fromstring(plots.log_log("t & u", "x", "y", "legend", series))
        names = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertTrue({"t & u", "a < b", "c", "x", "y"} <= set(names))
        for element in root.iter("{http://www.w3.org/2000/svg}circle"):
            self.assertTrue(
                0 <= float(element.get("cx")) <= plots.WIDTH and 0 <= float(element.get("cy")) <= plots.HEIGHT
            )

    def test_ticks(self):
        self.assertEqual(plots.ticks(1e4, 1e7), [1e4, 1e5, 1e6, 1e7])
        self.assertEqual(plots.ticks(1, 20), [1, 2, 5, 10, 20])
        self.assertEqual([plots.number(value) for value in (0.5, 200, 1e4, 1e7)], ["0.5", "200", "10⁴", "10⁷"])

    def test_no_points_are_an_error(self):
        with self.assertRaises(ValueError):
            plots.log_log("t", "x", "y", "legend", [])


if __name__ == "__main__":
    unittest.main()

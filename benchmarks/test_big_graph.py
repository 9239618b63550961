"""The writer of large .carat files, held against docs/mapped-format.md."""

import struct
import tempfile
import unittest
import zlib
from pathlib import Path

try:
    import numpy as np

    import big_graph
except ImportError:
    np = None


@unittest.skipIf(np is None, "numpy is not installed")
class Layout(unittest.TestCase):
    def read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "g.carat"
            big_graph.write(path, nodes=500, degree=7, width=9, classes=3, train=100, seed=1)
            return path.read_bytes()

    def test_head_table_and_sections_fit_together(self):
        data = self.read()
        version, count, length, table = struct.unpack_from("<IIQI", data, 8)
        self.assertEqual((data[:8], version, count, length), (big_graph.MAGIC, 1, 6, len(data)))
        self.assertEqual(struct.unpack_from("<I", data, 28)[0], zlib.crc32(data[:28]))
        self.assertEqual(table, zlib.crc32(data[32 : 32 + 32 * count]))
        end = 1088
        for at in range(count):
            _, checksum, start, size, zero = struct.unpack_from("<IIQQQ", data, 32 + 32 * at)
            self.assertEqual((start % 64, zero, zlib.crc32(data[start : start + size])), (0, 0, checksum))
            self.assertGreaterEqual(start, end)
            end = start + size
        self.assertEqual(end, len(data))

    def test_neighbours_are_different_nodes_in_ascending_order(self):
        for nodes, degree in ((8, 7), (500, 7), (100_003, 3)):
            rows = np.concatenate(list(big_graph.sources(np.random.default_rng(0), nodes, degree)))
            self.assertEqual(rows.shape, (nodes, degree))
            self.assertLess(rows.max(), nodes)
            self.assertTrue((rows[:, 1:] > rows[:, :-1]).all())

    def test_labels_are_those_of_the_features(self):
        data = self.read()
        entries = (struct.unpack_from("<IIQQQ", data, 32 + 32 * at) for at in range(6))
        sections = {kind: data[start : start + size] for kind, _, start, size, _ in entries}
        features = np.frombuffer(sections[big_graph.DENSE], "<f4").reshape(500, 9)
        labels = np.frombuffer(sections[big_graph.LABELS], "<i4")
        self.assertTrue((labels == features[:, :3].argmax(axis=1)).all())
        self.assertEqual(struct.unpack_from("<4Q", sections[big_graph.SPLITS]), (1, 100, 10, 10))


if __name__ == "__main__":
    unittest.main()

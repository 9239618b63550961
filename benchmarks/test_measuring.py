"""Commands under limits: what a long run must survive."""

import json
import sys
import unittest

import measuring


def python(code, memory_limit_gib=1.0, timeout=60.0):
    return measuring.try_json([sys.executable, "-c", code], memory_limit_gib, timeout)


class Commands(unittest.TestCase):
    def test_json_comes_back_with_the_surroundings(self):
        result = python(f"print({json.dumps({'step_ms': 1.5})!r})")
        self.assertEqual(result["step_ms"], 1.5)
        self.assertGreaterEqual(result["other_work"], 0.0)
        self.assertNotIn("failed", result)

    @unittest.skipUnless(sys.platform == "linux", "limits of private memory are Linux's")
    def test_a_command_beyond_its_memory_limit_is_refused_memory(self):
        result = python("held = bytearray(2 * 1024**3)", memory_limit_gib=0.5)
        self.assertTrue(result["out_of_memory"], result)

    def test_another_failure_is_not_called_memory(self):
        result = python("raise SystemExit('no such dataset')")
        self.assertIn("no such dataset", result["failed"])
        self.assertFalse(result["out_of_memory"])

    def test_a_command_that_hangs_is_stopped(self):
        result = python("import time; time.sleep(60)", timeout=0.5)
        self.assertIn("stopped after", result["failed"])

    def test_a_command_that_prints_no_json_has_failed(self):
        self.assertIn("no JSON", python("print('hello')")["failed"])

    def test_messages_of_torch_and_rust(self):
        self.assertTrue(
            measuring.ran_out_of_memory("DefaultCPUAllocator: can't allocate memory: you tried to allocate 4")
        )
        self.assertTrue(measuring.ran_out_of_memory("memory allocation of 4000 bytes failed"))
        self.assertFalse(measuring.ran_out_of_memory("error: no such file"))

    def test_the_line_that_tells_most(self):
        rust = "memory allocation of 8 bytes failed\n  0: main\nnote: run with RUST_BACKTRACE=full\n"
        self.assertEqual(measuring.telling_line(rust), "memory allocation of 8 bytes failed")
        self.assertEqual(measuring.telling_line("Traceback:\n  line 1\nValueError: bad\n"), "ValueError: bad")
        self.assertEqual(measuring.telling_line(""), "no message")

    def test_the_limit_is_never_above_what_was_asked_for(self):
        self.assertLessEqual(measuring.memory_limit(1.0), 1.0)


if __name__ == "__main__":
    unittest.main()

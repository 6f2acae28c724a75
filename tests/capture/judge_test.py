"""tools/python/voltcheck.py with the built command (VOLTCHECK) and the shipped fixture."""

import array
import os
import struct
import subprocess
import tempfile
import unittest

from common import FIXTURE, ROOT

import voltcheck

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None


class Judging(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.exported = os.path.join(cls.folder.name, "fixture.safetensors")
        subprocess.run([os.environ["VOLTCHECK"], "inspect", FIXTURE, "--tensors", cls.exported], check=True,
                       stdout=subprocess.DEVNULL)
        cls.tensors, cls.metadata = voltcheck.read_safetensors(cls.exported)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def first_rows(self, name, tokens):
        dtype, shape, raw = self.tensors[name]
        return dtype, [tokens, shape[1]], raw[: tokens * shape[1] * (2 if dtype == "F16" else 4)]

    def test_the_export_is_the_fixture(self):
        self.assertEqual(self.metadata["schema"], "voltcheck.fixture/1")
        self.assertEqual(self.tensors["hidden"][:2], ("F16", [128, 512]))
        self.assertEqual(self.tensors["experts.w13_qweight"][1][1:], [512, 32])

    def test_good_outputs_pass(self):
        result = voltcheck.judge(FIXTURE, {"output": self.first_rows("output", 4),
                                           "logits": self.first_rows("logits", 4)}, tokens=4)
        self.assertEqual(result["schema"], "voltcheck.judge/1")
        self.assertEqual(result["cases"][0]["stages"]["output"]["verdict"], "passed")
        self.assertEqual(result["summary"]["foreign"]["logits"]["rows"], 4)
        self.assertLess(result["summary"]["foreign"]["logits"]["max_abs"], 0.1)

    def test_a_wrong_element_is_named(self):
        dtype, shape, raw = self.first_rows("output", 2)
        spoilt = raw[: 2 * 700] + struct.pack("<e", 9.0) + raw[2 * 701 :]
        with self.assertRaises(AssertionError) as caught:
            voltcheck.judge(FIXTURE, {"output": (dtype, shape, spoilt)}, tokens=2)
        text = str(caught.exception)
        self.assertIn("failed", text)
        self.assertIn("row 1, column 188: got 9", text)

    def test_what_cannot_be_judged_is_an_error_of_one_line(self):
        for outputs, tokens in (({"output": self.first_rows("output", 3)}, 2), ({"x": self.tensors["topk_ids"]}, 2)):
            with self.assertRaises(voltcheck.VoltcheckError) as caught:
                voltcheck.judge(FIXTURE, outputs, tokens=tokens)
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaises(voltcheck.VoltcheckError):
            voltcheck.judge(FIXTURE, {"output": array.array("f", [1])})
        with self.assertRaises(voltcheck.VoltcheckError):
            voltcheck.judge(FIXTURE, {}, binary="/nonexistent/voltcheck")

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_numpy_arrays(self):
        dtype, shape, raw = self.first_rows("output", 2)
        voltcheck.judge(FIXTURE, {"output": numpy.frombuffer(raw, "<f2").reshape(shape)}, tokens=2)
        strided = numpy.frombuffer(raw, "<f2").reshape(shape).T.copy().T
        voltcheck.judge(FIXTURE, {"output": strided}, tokens=2)

    @unittest.skipUnless(torch, "torch is not installed")
    def test_torch_tensors(self):
        dtype, shape, raw = self.first_rows("output", 2)
        voltcheck.judge(FIXTURE, {"output": torch.frombuffer(bytearray(raw), dtype=torch.float16).reshape(shape)},
                        tokens=2)

    def test_safetensors_round_trip_and_hostile_files(self):
        path = os.path.join(self.folder.name, "x.safetensors")
        voltcheck.write_safetensors(path, {"a": ("I32", [2], b"\1\0\0\0\2\0\0\0")}, {"k": "v"})
        self.assertEqual(voltcheck.read_safetensors(path), ({"a": ("I32", [2], b"\1\0\0\0\2\0\0\0")}, {"k": "v"}))
        header = b'{"a":{"dtype":"I32","shape":[%s],"data_offsets":[0,%d]}}'
        for content in (b"", b"\xff" * 8, struct.pack("<Q", 1 << 62) + b"{}", struct.pack("<Q", 2) + b"[]",
                        struct.pack("<Q", 40) + b"[" * 40,
                        *(struct.pack("<Q", len(h)) + h for h in (header % (b"1", 8), header % (b"-1", -4),
                                                                  header % (b"4", 16)))):
            with open(path, "wb") as file:
                file.write(content)
            with self.assertRaises(voltcheck.VoltcheckError):
                voltcheck.read_safetensors(path)


class Replaying(unittest.TestCase):
    def test_the_tactics_of_a_capture_from_a_gpu_are_named(self):
        captured = os.path.join(ROOT, "fixtures", "captured", "smollm2_l29_g128_h200.h5")
        done = subprocess.run([os.environ["VOLTCHECK"], "replay", captured, "--capture-numerics", "sm80-software"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"w13: bit for bit .*64x128x32/2")
        self.assertRegex(done.stdout, r"w2: bit for bit .*64x128x32/1")


if __name__ == "__main__":
    unittest.main()

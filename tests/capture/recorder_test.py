"""The recorder with operators of every form, and the way of README.md from a server to a fixture that replays.
Skipped where torch is not installed."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

from common import FIXTURE, ROOT

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

import recorder
import voltcheck
from store import read_journal

FORMS = torch.library.Library("vcforms", "DEF")


def operator(schema):
    """Registers a function for the processor under a schema."""
    def register(function):
        FORMS.define(schema)
        FORMS.impl(schema.partition("(")[0], function, "CPU")
        return function
    return register


@operator("nothing(Tensor x) -> ()")
def _nothing(x):
    pass


@operator("pair(Tensor x) -> (Tensor, int)")
def _pair(x):
    return x + 1, 7


@operator("into(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
def _into(x, *, out):
    return out.copy_(x * 3)


@operator("many(Tensor?[] xs, int[] sizes, float f=2.5, str s='a', bool b=False, ScalarType? dtype=None) -> Tensor[]")
def _many(xs, sizes, f=2.5, s="a", b=False, dtype=None):
    return [x + 1 for x in xs if x is not None]


@operator("sneaky(Tensor x, Tensor buffer) -> ()")
def _sneaky(x, buffer):
    buffer.copy_(x)


@operator("inner(Tensor x) -> Tensor")
def _inner(x):
    return x + 10


@operator("outer(Tensor x) -> Tensor")
def _outer(x):
    return torch.ops.vcforms.inner(x) * 2


class Forms(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name
        self.ops = torch.ops.vcforms

    def recorder(self, *names, **options):
        record = recorder.Recorder(os.path.join(self.folder, "calls"), **options)
        self.addCleanup(record.close)
        for name in names:
            record.wrap(f"vcforms::{name}")
        return record

    def lines(self, folder="calls"):
        return read_journal(os.path.join(self.folder, folder))

    def tensors(self, file, folder="calls"):
        return voltcheck.read_safetensors(os.path.join(self.folder, folder, file))[0]

    def test_results_and_arguments_of_every_kind(self):
        self.recorder("nothing", "pair", "into", "many")
        out = torch.zeros(2, dtype=torch.int64)
        self.assertIsNone(self.ops.nothing(torch.tensor(3.0)))
        self.assertEqual(self.ops.pair(torch.ones(2, dtype=torch.bfloat16))[1], 7)
        self.ops.into(torch.arange(4)[::2], out=out)
        self.ops.many([torch.ones(1), None], [1, 2], f=float("nan"), dtype=torch.float16)
        before, after = self.lines()[::2], self.lines()[1::2]
        self.assertEqual([l["event"] for l in before + after], ["before"] * 4 + ["after"] * 4)
        self.assertEqual(self.tensors(before[0]["inputs"])["x"][:2], ("F32", []))
        self.assertEqual(self.tensors(after[0]["outputs"]), {})
        self.assertEqual(self.tensors(after[1]["outputs"])["returned.0"], ("BF16", [2], b"\0\x40" * 2))
        self.assertEqual(after[1]["scalars"], {"returned.1": 7})
        self.assertEqual(before[2]["strides"], {"x": [2]})
        self.assertEqual(self.tensors(before[2]["inputs"])["x"][2], b"\0" * 8 + b"\2" + b"\0" * 7)
        self.assertEqual(sorted(self.tensors(after[2]["outputs"])), ["out", "returned"])
        self.assertEqual(before[3]["scalars"], {"xs.1": None, "sizes": [1, 2], "f": "nan", "s": "a", "b": False,
                                                "dtype": "torch.float16"})
        self.assertEqual(sorted(self.tensors(after[3]["outputs"])), ["returned.0"])

    def test_what_is_written_without_saying_so_is_an_output(self):
        self.recorder("sneaky")
        self.ops.sneaky(torch.ones(2), torch.zeros(2))
        after = self.lines()[1]
        self.assertEqual(after["undeclared_writes"], ["buffer"])
        self.assertEqual(sorted(self.tensors(after["outputs"])), ["buffer"])

    def test_nested_calls_threads_and_a_mode_beside_wrap(self):
        record = self.recorder("inner", "outer", include=["vcforms::*"], max_calls=1000)
        with record.mode():
            self.assertEqual(self.ops.outer(torch.ones(1)).item(), 22)
        self.assertEqual([(l["event"], l["call"]) for l in self.lines()],
                         [("before", 1), ("before", 2), ("after", 2), ("after", 1)])
        threads = [threading.Thread(target=lambda: [self.ops.outer(torch.ones(1)) for _ in range(10)])
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        calls = [l["call"] for l in self.lines() if l["event"] == "after"]
        self.assertEqual(sorted(calls), list(range(1, 83)))

    def test_a_recorder_that_fails_does_not_stop_the_model(self):
        self.recorder("nothing", "inner")
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            self.ops.nothing(torch.ones(1, dtype=torch.complex64))  # no dtype of safetensors
            with mock.patch("store.write_safetensors", side_effect=OSError("disk full")):
                self.assertEqual(self.ops.inner(torch.ones(1)).item(), 11)
                self.assertEqual(self.ops.inner(torch.ones(1)).item(), 11)
        self.assertEqual(told.getvalue().count("disk full"), 1)
        self.assertEqual([l["event"] for l in self.lines()], ["failed", "failed"])

    def test_operators_stay_what_they_are(self):
        held, overload = self.ops.inner, self.ops.inner.default
        record, second = self.recorder("inner", "absent"), recorder.Recorder(os.path.join(self.folder, "second"))
        self.addCleanup(second.close)
        second.wrap("vcforms::inner")
        self.assertFalse(hasattr(self.ops, "absent"))
        self.assertIs(self.ops.inner, held)
        self.assertIs(self.ops.inner.default, overload)
        self.assertIsInstance(overload, torch._ops.OpOverload)
        held(torch.ones(1))  # references from before are seen too
        overload(torch.ones(1))
        record.close()
        held(torch.ones(1))
        self.assertEqual(len(self.lines()), 4)
        self.assertEqual(len(self.lines("second")), 6)

    def test_graphs_on_a_torch_that_says_it_captures(self):
        record = self.recorder("sneaky", "inner", on_capture="copy")
        buffer, x = torch.zeros(2), torch.ones(2)
        with mock.patch("torch.cuda.is_current_stream_capturing", lambda: True):
            self.ops.sneaky(x, buffer)
        with mock.patch("torch.cuda.is_current_stream_capturing", lambda: False):
            self.ops.inner(torch.ones(1))
        record.snapshot()
        self.assertEqual([l["event"] for l in self.lines()], ["capturing", "before", "after", "replay"])
        replay = self.lines()[3]
        self.assertEqual((replay["captured_call"], replay["undeclared_writes"]), (1, ["buffer"]))
        self.assertEqual(self.tensors(replay["inputs"])["buffer"][2], b"\0" * 8)

    def test_a_fork_writes_to_a_folder_of_its_own(self):
        self.recorder("inner")
        self.ops.inner(torch.ones(1))
        child = os.fork()
        if child == 0:
            self.ops.inner(torch.ones(1))
            os._exit(0)
        os.waitpid(child, 0)
        self.ops.inner(torch.ones(1))
        self.assertEqual(len(self.lines()), 4)
        self.assertEqual(len(self.lines(f"calls/process-{child}")), 2)


class FromAServerToAFixture(unittest.TestCase):
    def run_tool(self, *words, **environment):
        done = subprocess.run(words, capture_output=True, text=True, cwd=self.folder, check=False,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_the_way_of_the_readme(self):
        here = os.path.dirname(os.path.abspath(__file__))
        with tempfile.TemporaryDirectory() as self.folder:
            path = lambda *names: os.path.join(self.folder, *names)
            binary = os.environ["VOLTCHECK"]
            self.run_tool(binary, "inspect", FIXTURE, "--tensors", "fixture.safetensors")
            os.mkdir(path("start"))
            with open(path("start", "sitecustomize.py"), "w", encoding="utf-8") as file:
                file.write("import sys\n"
                           f"sys.path.append({os.path.join(ROOT, 'tools', 'capture')!r})\n"
                           "import recorder\n"
                           "recorder.install_from_environment()\n")
            self.run_tool(sys.executable, os.path.join(here, "server_like.py"), self.folder,
                          PYTHONPATH=path("start"), VOLTCHECK_CAPTURE_DIR=path("calls"),
                          VOLTCHECK_CAPTURE_SWITCH=path("on"),
                          VOLTCHECK_CAPTURE_OPS="_moe_C::moe_permute,_C::awq_moe_active_dense_stage_sm70_out,"
                                                "_moe_C::moe_unpermute")
            (process,) = os.listdir(path("calls"))
            events = [l["event"] for l in read_journal(path("calls", process))]
            self.assertEqual(events, ["before", "after"] * 8)  # two requests, nothing of the warm-up
            made = self.run_tool(sys.executable, os.path.join(ROOT, "tools", "capture", "convert_calls.py"),
                                 path("calls", process), "captures", "--layers", "1").split()
            self.assertEqual(made, ["captures/pass_000_layer_0000.safetensors",
                                    "captures/pass_001_layer_0000.safetensors"])
            tensors, metadata = voltcheck.read_safetensors(path("fixture.safetensors"))
            voltcheck.write_safetensors(path("checkpoint.safetensors"), {
                f"layers.0.mlp.experts.{name.partition('.')[2]}": tensor for name, tensor in tensors.items()
                if name.startswith("experts.w")})
            # The fixture stores the experts that are used; their ids are the checkpoint's rows.
            self.assertEqual(tensors["experts.ids"][1][0], int(metadata["experts"]), "all experts are stored")
            self.run_tool(binary, "import", "checkpoint.safetensors", "--capture", made[1], "--columns", "halves",
                          "--out", "layer.h5")
            replay = json.loads(self.run_tool(binary, "replay", "layer.h5", "--json"))
            self.assertEqual(replay["summary"]["passed"], 1)
            self.assertEqual([c["verdict"] for c in replay["summary"]["captures"]], ["passed"])


class FromTheEnvironment(unittest.TestCase):
    def test_a_signal_writes_what_graphs_left(self):
        with tempfile.TemporaryDirectory() as folder:
            settings = {"VOLTCHECK_CAPTURE_DIR": folder, "VOLTCHECK_CAPTURE_OPS": "vcforms::inner",
                        "VOLTCHECK_CAPTURE_GRAPHS": "copy", "VOLTCHECK_CAPTURE_SWITCH": os.path.join(folder, "on")}
            before = signal.getsignal(signal.SIGUSR2)
            with mock.patch.dict(os.environ, settings):
                record = recorder.install_from_environment()
            try:
                self.assertEqual(os.listdir(folder), [])
                with mock.patch("torch.cuda.is_current_stream_capturing", lambda: True):
                    torch.ops.vcforms.inner(torch.ones(1))
                torch.ops.vcforms.inner(torch.ones(1))  # the switch is off
                os.kill(os.getpid(), signal.SIGUSR2)
            finally:
                record.close()
                signal.signal(signal.SIGUSR2, before)
            lines = read_journal(os.path.join(folder, f"process-{os.getpid()}"))
            self.assertEqual([l["event"] for l in lines], ["capturing", "replay"])


if __name__ == "__main__":
    unittest.main()

"""tools/capture with operators that run on the processor. Skipped where torch is not installed."""

import contextlib
import io
import os
import subprocess
import tempfile
import unittest

from common import FIXTURE

try:
    import torch
except ImportError:
    raise unittest.SkipTest("torch is not installed")

import convert_pt
import grouped_gemm_op
import logits
import recorder
import run_op
import voltcheck
from store import read_journal


def as_tensor(entry):
    dtype, shape, raw = entry
    kinds = {**run_op.TORCH_DTYPES, "I64": torch.int64}
    return torch.frombuffer(bytearray(raw), dtype=kinds[dtype]).reshape(shape)


class Folder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name

    def tearDown(self):
        self._folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        return voltcheck.read_safetensors(self.path(name))[0]


class Recording(Folder):
    def arguments(self):
        tensors = [torch.zeros(2, 32, dtype=torch.float16), torch.ones(2, 32, dtype=torch.float16),
                   torch.zeros(2, dtype=torch.int32), torch.zeros(3, dtype=torch.int32),
                   torch.full((2,), -1, dtype=torch.int32)]
        words = torch.zeros(4 * 32, dtype=torch.int32)
        metadata = torch.ones(32 * 2, dtype=torch.float16)
        self.keep = (words, metadata)
        return [*tensors, run_op.pointer_table([words], 128), run_op.pointer_table([metadata], 32), 2, 32, 32, 32]

    def test_inputs_before_and_outputs_after(self):
        record = recorder.Recorder(self.folder)
        record.wrap("vctest::stage")
        arguments = self.arguments()
        torch.ops.vctest.stage(*arguments)
        torch.ops.vctest.stage.default(*arguments)
        record.close()
        torch.ops.vctest.stage(*arguments)  # no longer recorded
        lines = read_journal(self.folder)
        self.assertEqual([(l["event"], l["call"]) for l in lines],
                         [("before", 1), ("after", 1), ("before", 2), ("after", 2)])
        self.assertEqual(lines[0]["declared_writes"], ["out", "active_expert_offsets", "active_expert_ids"])
        self.assertEqual(lines[0]["scalars"], {"total_slots": 2, "k": 32, "n": 32, "group_size": 32})
        before, after = self.read(lines[0]["inputs"]), self.read(lines[1]["outputs"])
        self.assertEqual(as_tensor(before["active_expert_ids"]).tolist(), [-1, -1])
        self.assertEqual(as_tensor(after["active_expert_ids"]).tolist(), [0, 0])
        self.assertTrue(torch.equal(as_tensor(before["out"]), torch.zeros(2, 32, dtype=torch.float16)))
        self.assertTrue(torch.equal(as_tensor(after["out"]), torch.full((2, 32), 32, dtype=torch.float16)))

    def test_a_failing_call_leaves_its_inputs(self):
        record = recorder.Recorder(self.folder)
        record.wrap("vctest::fail")
        with self.assertRaises(RuntimeError):
            torch.ops.vctest.fail(torch.arange(4))
        lines = read_journal(self.folder)
        record.close()
        self.assertEqual([l["event"] for l in lines], ["before", "raised"])
        self.assertEqual(as_tensor(self.read(lines[0]["inputs"])["x"]).tolist(), [0, 1, 2, 3])

    def test_filters_and_caps(self):
        record = recorder.Recorder(self.folder, include=["vctest::*"], exclude=["*::fail"], max_calls=2, every=2,
                                   max_call_bytes=64)
        self.assertFalse(record.wants("vctest::fail"))
        self.assertFalse(record.wants("aten::add"))
        record.wrap("vctest::scale")
        for _ in range(10):
            torch.ops.vctest.scale(torch.ones(3))
        torch.ops.vctest.scale(torch.ones(100), by=3.0)
        record.close()
        events = [l["event"] for l in read_journal(self.folder)]
        self.assertEqual(events, ["before", "after"] * 2)

        large = recorder.Recorder(self.path("large"), max_call_bytes=64)
        large.wrap("vctest::scale")
        self.assertEqual(torch.ops.vctest.scale(torch.ones(100), by=3.0)[0], 3)
        large.close()
        (line,) = read_journal(self.path("large"))
        self.assertEqual((line["event"], line["bytes"]), ("too large", 400))

    def test_the_mode_sees_calls_however_they_are_reached(self):
        held = torch.ops.vctest.scale.default
        record = recorder.Recorder(self.folder, include=["vctest::*"])
        with record.mode():
            held(torch.ones(3))
            torch.ones(3) + 1
        record.close()
        self.assertEqual([l["event"] for l in read_journal(self.folder)], ["before", "after"])

    def test_calls_during_graph_capture(self):
        capturing = True
        noted = recorder.Recorder(self.folder, capturing=lambda: capturing)
        noted.wrap("vctest::scale")
        torch.ops.vctest.scale(torch.ones(3))
        capturing = False
        torch.ops.vctest.scale(torch.ones(3))
        noted.close()
        self.assertEqual([l["event"] for l in read_journal(self.folder)], ["capturing", "before", "after"])

        capturing = True
        copied = recorder.Recorder(self.path("copied"), on_capture="copy", capturing=lambda: capturing)
        copied.wrap("vctest::scale")
        torch.ops.vctest.scale(torch.ones(3))
        copied.snapshot()
        copied.close()
        lines = read_journal(self.path("copied"))
        self.assertEqual([l["event"] for l in lines], ["capturing", "replay"])
        outputs, _ = voltcheck.read_safetensors(os.path.join(self.path("copied"), lines[1]["outputs"]))
        self.assertEqual(as_tensor(outputs["returned"]).tolist(), [2, 2, 2])

    def test_an_operator_that_is_registered_later(self):
        record = recorder.Recorder(self.folder)
        record.wrap("vclater::twice")
        library = torch.library.Library("vclater", "DEF")
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CPU")
        self.assertEqual(torch.ops.vclater.twice(torch.ones(1)).item(), 2)
        record.close()
        self.assertEqual(len(read_journal(self.folder)), 2)


class Dumps(Folder):
    def layer(self):
        torch.manual_seed(1)
        ids = torch.tensor([[2, 0], [1, 2], [0, 1]], dtype=torch.int32)
        return {"input": torch.randn(3, 8).half(), "topk_ids_i32": ids, "topk_weights": torch.rand(3, 2),
                "permuted_experts_id": torch.sort(ids.reshape(-1), stable=True).values,
                "expert_offsets": torch.tensor([0, 2, 4, 6]), "silu_out": torch.randn(6, 4).half(),
                "output": torch.randn(3, 8).half()}

    def test_a_dictionary_for_each_layer(self):
        layer = self.layer()
        torch.save(layer, self.path("layer_7.pt"))
        torch.save({"layers.3": layer}, self.path("all.pt"))
        files = convert_pt.convert([self.path("layer_7.pt"), self.path("all.pt")], self.path("out"))
        self.assertEqual(files, ["layer_0003.safetensors", "layer_0007.safetensors"])
        tensors, metadata = voltcheck.read_safetensors(os.path.join(self.path("out"), files[1]))
        self.assertEqual(metadata["layer"], "7")
        for label, name in (("input", "hidden"), ("topk_ids_i32", "topk_ids"), ("silu_out", "silu"),
                            ("output", "output"), ("permuted_experts_id", "permuted_experts_id")):
            self.assertTrue(torch.equal(as_tensor(tensors[name]), layer[label]), name)

    def test_a_file_for_each_tensor_with_a_permuted_input(self):
        layer = self.layer()
        order = torch.sort(layer["topk_ids_i32"].reshape(-1), stable=True).indices
        hidden, w2 = layer["input"], torch.randn(6, 8).half()
        layer.update(input=hidden[order // 2], output=w2)
        os.mkdir(self.path("dump"))
        for label, tensor in layer.items():
            torch.save(tensor, self.path(f"dump/layer_12.{label}.pt"))
        (file,) = convert_pt.convert([self.path("dump")], self.path("out"))
        tensors, _ = voltcheck.read_safetensors(os.path.join(self.path("out"), file))
        self.assertTrue(torch.equal(as_tensor(tensors["hidden"]), hidden))
        self.assertTrue(torch.equal(as_tensor(tensors["w2"]), w2))
        layer["input"][0] += 1
        torch.save(layer, self.path("layer_1.pt"))
        with self.assertRaisesRegex(convert_pt.DumpError, "not those of a stable sort"):
            convert_pt.convert([self.path("layer_1.pt")], self.path("bad"))

    def test_nothing_in_a_dump_is_executed(self):
        class Payload:
            def __reduce__(self):
                return os.mkdir, (self.where,)

        payload = Payload()
        payload.where = self.path("harmed")
        torch.save({"input": payload}, self.path("layer_0.pt"))
        with self.assertRaisesRegex(convert_pt.DumpError, "weights_only=True"):
            convert_pt.convert([self.path("layer_0.pt")], self.path("out"))
        self.assertFalse(os.path.exists(self.path("harmed")))


class Logits(Folder):
    def test_rows_of_teacher_forced_text(self):
        torch.manual_seed(2)
        head = torch.nn.Linear(8, 20, bias=False)
        for vocabulary in (None, [3, 1, 19]):
            folder = self.path(f"rows{vocabulary is None}")
            record = logits.LogitsRecorder(folder, vocabulary=vocabulary, max_rows=7)
            handle = record.hook(head)
            x, y = torch.randn(1, 5, 8), torch.randn(4, 8)
            with torch.no_grad():
                want = torch.cat((head(x).reshape(5, 20), head(y)))[:7]
            handle.remove()
            head(x)
            record.close()
            self.assertEqual(logits.join(folder, self.path("joined.safetensors")), 7)
            joined = self.read("joined.safetensors")
            got = as_tensor(joined["logits"])
            self.assertTrue(torch.equal(got, want if vocabulary is None else want[:, vocabulary]))
            self.assertEqual("head.token_ids" in joined, vocabulary is not None)


class RunningAnOperator(Folder):
    def run_op(self, operator):
        fixture = self.path("fixture.safetensors")
        subprocess.run([os.environ["VOLTCHECK"], "inspect", FIXTURE, "--tensors", fixture], check=True,
                       stdout=subprocess.DEVNULL)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = run_op.main([fixture, operator, self.path("out.safetensors"), "--device", "cpu"])
        return status, out.getvalue() + err.getvalue()

    def test_an_honest_operator_passes_the_judge(self):
        status, text = self.run_op("vctest::stage")
        self.assertEqual(status, 0, text)
        self.assertIn("really written:      active_expert_ids, active_expert_offsets, out", text)
        result = voltcheck.judge(FIXTURE, self.path("out.safetensors"))
        for stage in ("w13", "silu", "w2", "output"):
            self.assertEqual(result["cases"][0]["stages"][stage]["verdict"], "passed", stage)

    def test_undeclared_writes_are_named(self):
        status, text = self.run_op("vctest::sneaky")
        self.assertEqual(status, 1)
        self.assertIn("writes active_expert_ids, active_expert_offsets without declaring it", text)

    def test_a_wrong_operator_fails_the_judge(self):
        self.assertEqual(self.run_op("vctest::wrong")[0], 0)
        with self.assertRaisesRegex(AssertionError, "w13"):
            voltcheck.judge(FIXTURE, self.path("out.safetensors"))

    def test_bad_input(self):
        status, text = self.run_op("vctest::absent")
        self.assertEqual(status, 2)
        self.assertEqual(text.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()

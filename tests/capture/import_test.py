"""voltcheck import: a fixture taken apart into a sharded checkpoint and a capture comes back with its own hash."""

import json
import os
import subprocess
import tempfile
import unittest

from common import FIXTURE

import voltcheck

LAYER = "model.layers.29.mlp.experts"


def columns(raw, row_bytes, begin, count):
    """Bytes begin .. begin + count of each row."""
    return b"".join(raw[at + begin : at + begin + count] for at in range(0, len(raw), row_bytes))


class Importing(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.export = self.path("export.safetensors")
        self.want = self.run_json("inspect", FIXTURE, "--json", "--tensors", self.export)
        self.tensors, _ = voltcheck.read_safetensors(self.export)

    def tearDown(self):
        self._folder.cleanup()

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def run_command(self, *words):
        return subprocess.run([os.environ["VOLTCHECK"], *words], capture_output=True, text=True, check=False,
                              cwd=self._folder.name)

    def run_json(self, *words):
        done = self.run_command(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def write_checkpoint(self):
        """Per-expert matrices, gate and up apart, over two shards with an index."""
        shards, index = [{}, {}], {}
        for row, expert in enumerate(self.want_ids()):
            for kind in ("qweight", "qzeros", "scales"):
                dtype, (_, rows, width), raw = self.tensors[f"experts.w13_{kind}"]
                size = 2 if dtype == "F16" else 4
                raw = raw[row * rows * width * size : (row + 1) * rows * width * size]
                half = width // 2 * size
                parts = {"gate_proj": (dtype, [rows, width // 2], columns(raw, 2 * half, 0, half)),
                         "up_proj": (dtype, [rows, width // 2], columns(raw, 2 * half, half, half))}
                dtype, (_, rows, width), raw = self.tensors[f"experts.w2_{kind}"]
                each = rows * width * size
                parts["down_proj"] = (dtype, [rows, width], raw[row * each : (row + 1) * each])
                for i, (name, tensor) in enumerate(parts.items()):
                    name = f"{LAYER}.{expert}.{name}.{kind}"
                    shards[i % 2][name] = tensor
                    index[name] = f"model-{i % 2}.safetensors"
        for i, shard in enumerate(shards):
            voltcheck.write_safetensors(self.path(f"model-{i}.safetensors"), shard)
        with open(self.path("model.safetensors.index.json"), "w", encoding="utf-8") as file:
            json.dump({"metadata": {}, "weight_map": index}, file)

    def want_ids(self):
        raw = self.tensors["experts.ids"][2]
        return [int.from_bytes(raw[i : i + 4], "little") for i in range(0, len(raw), 4)]

    def test_bits_in_are_bits_out(self):
        self.write_checkpoint()
        words = ["import", "model.safetensors.index.json", "--capture", self.export, "--columns", "halves",
                 "--epsilon", "1e-5", "--layer", "29", "--out", "again.h5", "--json"]
        made = self.run_json(*words)
        self.assertEqual(made["hash"], self.want["hash"])
        self.assertEqual(made["captured"], ["silu", "output", "logits"])
        self.assertEqual(self.run_json("inspect", "again.h5", "--json")["hash"], self.want["hash"])
        # Some tokens of the capture, and half of the columns and rows on each of two ranks, in forked groups.
        few = self.run_json(*words, "--tokens", "3", "--first-token", "5")
        self.assertEqual((few["tokens"], few["group"]), (3, 128))
        self.assertEqual(self.run_command("replay", "again.h5", "--quiet").returncode, 0)
        voltcheck.write_safetensors(self.path("inputs.safetensors"),
                                    {k: self.tensors[k] for k in ("hidden", "topk_ids", "topk_weights")})
        rank = self.run_json("import", ".", "--capture", "inputs.safetensors", "--rank", "1/2", "--out", "rank.h5",
                             "--json", "--prefix", LAYER)
        self.assertEqual((rank["intermediate"], rank["group"], rank["checkpoint_group"]), (64, 64, 128))

    def test_a_refusal_leaves_nothing(self):
        self.write_checkpoint()
        dtype, shape, raw = self.tensors["hidden"]
        wide = ("F32", shape, b"\x01\x00\x80\x3f" * (len(raw) // 2))  # 1 + 2^-23 has no equal in float16
        voltcheck.write_safetensors(self.path("wide.safetensors"), {
            "hidden": wide, **{k: self.tensors[k] for k in ("topk_ids", "topk_weights")}})
        before = sorted(os.listdir(self._folder.name))
        done = self.run_command("import", "model.safetensors.index.json", "--capture", "wide.safetensors", "--out", "x.h5")
        self.assertEqual(done.returncode, 2)
        self.assertIn("element 0 of type F32 has no equal of type float16", done.stderr)
        self.assertEqual(sorted(os.listdir(self._folder.name)), before)


if __name__ == "__main__":
    unittest.main()

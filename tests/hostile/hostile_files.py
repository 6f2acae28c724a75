"""Malformed files for every reader, each with the command that reads it and what its one error line must say.

`build(folder, voltcheck)` writes them, always the same bytes, and returns a list of (name, command, expected).
"""

import json
import os
import struct
import subprocess
import sys

import h5py
import numpy as np

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "fixtures", "smollm2"))
import fixture_file  # noqa: E402

HUGE = 1 << 63
CASE = "h=128,i=64,e=4,k=2,t=1,w13=8x128x64/1,w2=8x128x64/1"


def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype="F16", shape=(2,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def safetensors_files():
    """(name, bytes, expected) for whoever reads safetensors."""
    good = safetensors({"a": entry()}, b"\0" * 4)
    yield "empty", b"", "too short"
    yield "cut_in_length", good[:5], "too short"
    yield "cut_in_header", good[:20], "reaches past the end"
    yield "cut_in_data", good[:-1], "of 3 bytes of data"
    yield "length_2_63", struct.pack("<Q", HUGE) + good[8:], "above 100 MB"
    yield "length_max", b"\xff" * 8 + good[8:], "above 100 MB"
    yield "length_100_mb", struct.pack("<Q", 100_000_000) + good[8:], "reaches past the end"
    yield "trailing_bytes", good + b"\0", "behind the last tensor"
    yield "not_an_object", safetensors(b"[1,2]"), "does not begin with '{'"
    yield "no_json", safetensors(b"{nonsense"), "no valid JSON"
    yield "nul_in_header", safetensors(b'{"a\0b":1}'), "NUL byte"
    yield "deep_json", safetensors(b'{"a":' + b"[" * 200000), "array where none may be"
    yield "deep_objects", safetensors(b'{"a":' + b'{"b":' * 200000), "key"
    yield "duplicate_key", safetensors(b'{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},'
                                       b'"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}}', b"\0" * 4), "twice"
    yield "duplicate_field", safetensors(b'{"a":{"dtype":"F16","dtype":"F16","shape":[2],"data_offsets":[0,4]}}',
                                         b"\0" * 4), "twice"
    yield "duplicate_metadata", safetensors(b'{"__metadata__":{},"__metadata__":{}}'), "twice"
    yield "metadata_number", safetensors({"__metadata__": {"a": 1}}), "number"
    yield "unknown_dtype", safetensors({"a": entry("F12")}, b"\0" * 4), "unknown dtype"
    yield "no_dtype", safetensors({"a": {"shape": [2], "data_offsets": [0, 4]}}, b"\0" * 4), "lacks dtype"
    yield "one_offset", safetensors({"a": entry(offsets=(0,))}, b"\0" * 4), "two data_offsets"
    yield "three_offsets", safetensors({"a": entry(offsets=(0, 2, 4))}, b"\0" * 4), "too many numbers"
    yield "offsets_backwards", safetensors({"a": entry(offsets=(4, 0))}, b"\0" * 4), "lies at bytes 4..0"
    yield "offset_2_63", safetensors({"a": entry(offsets=(0, HUGE))}, b"\0" * 4), "of 4 bytes of data"
    yield "offset_negative", safetensors({"a": entry(offsets=(-4, 0))}, b"\0" * 4), "negative"
    yield "offset_float", safetensors({"a": entry(offsets=(0, 4.5))}, b"\0" * 4), "no whole number"
    yield "overlap", safetensors({"a": entry(), "b": entry(offsets=(2, 6))}, b"\0" * 6), "overlaps"
    yield "gap", safetensors({"a": entry(), "b": entry(offsets=(6, 10))}, b"\0" * 10), "leaves a hole"
    yield "shape_2_63", safetensors({"a": entry(shape=(HUGE,))}, b"\0" * 4), "overflows"
    yield "shape_product", safetensors({"a": entry(shape=(1 << 32, 1 << 32))}, b"\0" * 4), "overflows"
    yield "shape_wraps", safetensors({"a": entry(shape=((1 << 63) + 2,))}, b"\0" * 4), "overflows"
    yield "shape_rank", safetensors({"a": entry(shape=(1,) * 17, offsets=(0, 2))}, b"\0" * 2), "too many numbers"
    yield "shape_too_small", safetensors({"a": entry(shape=(1,))}, b"\0" * 4), "takes 4 bytes"
    yield "shape_missing", safetensors({"a": {"dtype": "F16", "data_offsets": [0, 4]}}, b"\0" * 4), "lacks dtype"
    yield "null_tensor", safetensors({"a": None}), "null"


def npy(header, data=b"\0" * 8, major=1):
    text = header.encode() + b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY" + bytes((major, 0)) + struct.pack("<H", len(text)) + text + data


def npy_files():
    good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
    yield "cut_in_magic", npy(good)[:4], "does not begin"
    yield "cut_in_header", npy(good)[:40], "header is longer than the file"
    yield "cut_in_data", npy(good)[:-1], "shape does not fit"
    yield "version_9", npy(good, major=9), "version"
    yield "object_dtype", npy(good.replace("<f4", "|O")), "no plain little-endian number"
    yield "big_endian", npy(good.replace("<f4", ">f4")), "no plain little-endian number"
    yield "shape_overflows", npy(good.replace("(2,)", "(4294967296, 4294967296)")), "shape does not fit"
    yield "shape_2_64", npy(good.replace("(2,)", "(18446744073709551616,)")), "no tuple of sizes"
    yield "shape_negative", npy(good.replace("(2,)", "(-2,)")), "no tuple of sizes"
    yield "unknown_key", npy(good.replace("shape", "shade")), "unknown key"
    yield "open_quote", npy("{'descr"), "quote that does not end"
    yield "many_dimensions", npy(good.replace("(2,)", "(" + "1," * 500 + ")")), "no tuple of sizes"


def index_files():
    yield "empty", b"", "is empty"
    yield "no_map", b"{}", "no weight_map"
    yield "deep_json", b'{"metadata":' + b"[" * 200000, "nests too deeply"
    yield "two_maps", b'{"weight_map":{},"weight_map":{}}', "twice"
    yield "tensor_twice", b'{"weight_map":{"a":"x","a":"y"}}', "twice"
    yield "leaves_the_folder", b'{"weight_map":{"a":"../../etc/passwd"}}', "no plain file name"
    yield "absolute", b'{"weight_map":{"a":"/dev/zero"}}', "no plain file name"
    yield "missing_shard", (b'{"weight_map":{"m.experts.0.gate_proj.qweight":"absent.safetensors",'
                            b'"m.experts.0.gate_proj.qzeros":"absent.safetensors",'
                            b'"m.experts.0.gate_proj.scales":"absent.safetensors"}}'), "cannot be opened"


def config_files():
    yield "unknown_key", b"colour = red\n", "unknown key 'colour'"
    yield "no_equals", b"suite smoke\n", "has no '='"
    yield "bad_limit", b"[w13]\nown-use = -1\n", ":2: w13.own-use: cannot be '-1'"
    yield "not_a_number", b"[w2]\nown-use = nan\n", "cannot be 'nan'"
    yield "overflow", b"schedule = 99999999999999999999\n", "schedule"
    yield "itself", b"config = x.cfg\n", "cannot stand in a configuration"
    yield "binary", bytes(range(256)) * 4, ""
    yield "open_section", b"[w13\nown-use = 1\n", ""
    yield "twice", b"policy = all\npolicy = bits\n", ""


def suite_files():
    yield "unknown_key", b"h=128;colour=red\n", ":1: "
    yield "product_2_63", b"h=128;seed=1..9223372036854775807;t=1..65536\n", ":1: "
    yield "huge_range", b"h=128;t=1..4000000000\n", ":1: "
    yield "backwards", b"h=128;t=9..1\n", ":1: "
    yield "shape_2_31", b"h=2147483648\n", ":1: "
    yield "long_line", b"h=" + b"9" * 1_000_000 + b"\n", ":1: "
    yield "nul", b"h=128\0;t=1\n", ":1: "
    yield "nothing", b"# only a comment\n", "has no case"


def checkpoint_files():
    """Whole safetensors files whose tensors are no AWQ experts."""
    def pack(prefix, shapes):
        header, at = {}, 0
        for kind, dtype, shape in shapes:
            size = {"I32": 4, "F16": 2, "I64": 8}[dtype] * int(np.prod(shape))
            header[f"{prefix}{kind}"] = entry(dtype, shape, (at, at + size))
            at += size
        return safetensors(header, b"\0" * at)

    gate, stacked = "m.experts.0.gate_proj.", "m.experts.w13_"
    good = lambda **change: [(kind, *change.get(kind, default)) for kind, default in (
        ("qweight", ("I32", (32, 4))), ("qzeros", ("I32", (1, 4))), ("scales", ("F16", (1, 32))))]
    yield "qweight_dtype", pack(gate, good(qweight=("I64", (32, 4)))), "has the dtype 'I64', not I32"
    yield "gptq", pack(gate, good(qweight=("I32", (4, 32)))), "shape that the scales imply"
    yield "group_16", pack(gate, good(qzeros=("I32", (2, 4)), scales=("F16", (2, 32)))), "none of 32, 64 or 128"
    yield "group_none", pack(gate, good(qzeros=("I32", (5, 4)), scales=("F16", (5, 32)))), "none of 32, 64 or 128"
    yield "one_dimension", pack(gate, good(qweight=("I32", (128,)))), "has 1 dimensions, not 2"
    yield "empty_side", pack(gate, good(qweight=("I32", (0, 4)))), "has a side of 0"
    yield "zeros_rows", pack(gate, good(qzeros=("I32", (2, 4)))), "shape that the scales imply"
    yield "no_scales", pack(gate, good()[:2]), "has no tensor"
    yield "no_down", pack(gate, good()), "has no tensor 'm.experts.0.down_proj.qweight'"
    yield "stacked_counts", pack(stacked, [("qweight", "I32", (2, 32, 4)), ("qzeros", "I32", (1, 1, 4)),
                                           ("scales", "F16", (2, 1, 32))]), "its zeros or scales do not"
    yield "expert_id_huge", pack("m.experts.99999999999999999999.gate_proj.", good()), "no file has experts"
    yield "expert_id_negative", pack("m.experts.-1.gate_proj.", good()), "no file has experts"


def make_fixture(path):
    """A whole fixture of the smallest size: H 32, I 32, E 4, k 1, T 2, experts 1 and 3 held."""
    words = lambda *dims: np.arange(np.prod(dims), dtype="<i4").reshape(dims)
    ones = lambda *dims: np.ones(dims, "<f2")
    tensors = {
        "/hidden": ones(2, 32), "/topk_ids": np.array([[1], [3]], "<i4"), "/topk_weights": np.ones((2, 1), "<f4"),
        "/experts/ids": np.array([1, 3], "<i4"),
        "/experts/w13_qweight": words(2, 32, 8), "/experts/w13_qzeros": words(2, 1, 8),
        "/experts/w13_scales": ones(2, 1, 64),
        "/experts/w2_qweight": words(2, 32, 4), "/experts/w2_qzeros": words(2, 1, 4),
        "/experts/w2_scales": ones(2, 1, 32),
        "/head/residual": ones(2, 32), "/head/norm": ones(32), "/head/weight": ones(3, 32),
        "/head/token_ids": np.array([0, 1, 2], "<i4"),
    }
    shape = dict(hidden=32, intermediate=32, experts=4, top_k=1, group=32, tokens=2)
    fixture_file.write(path, shape, 1e-6, tensors, {"model": "none"})


def set_data(file, path, array):
    """Replaces a tensor and its own hash: what remains wrong is what the array says."""
    del file[path]
    dataset = file.create_dataset(path, data=array, track_times=False)
    dataset.attrs["sha256"] = np.bytes_(fixture_file.tensor_hash(np.ascontiguousarray(array)))


def fixture_changes():
    """(name, change of an open fixture, expected)."""
    attribute = lambda name, value: lambda f: f.attrs.__setitem__(name, value)
    yield "newer_schema", attribute("schema", np.bytes_("voltcheck.fixture/9")), "use the version of voltcheck"
    yield "no_schema", lambda f: f.attrs.__delitem__("schema"), "schema"
    yield "hidden_2_62", attribute("hidden", np.int64(1 << 62)), "out of range"
    yield "hidden_negative", attribute("hidden", np.int64(-32)), "out of range"
    yield "hidden_text", attribute("hidden", np.bytes_("32")), "wrong type"
    yield "tokens_other", attribute("tokens", np.int64(3)), "has the shape"
    yield "group_48", attribute("group", np.int64(48)), "no group size"
    yield "experts_fewer", attribute("experts", np.int64(2)), "hash"
    yield "columns_odd", attribute("columns", np.bytes_("diagonal")), "columns"
    yield "hash_wrong", attribute("hash", np.bytes_("0" * 64)), "is not the hash of the content"
    yield "tensor_missing", lambda f: f.__delitem__("topk_weights"), "/topk_weights: is missing"
    yield "group_missing", lambda f: f.__delitem__("experts"), "is missing"
    yield "tensor_unknown", lambda f: set_data(f, "extra", np.zeros(1, "<f4")) if "extra" in f else f.create_dataset(
        "extra", data=np.zeros(1, "<f4")), "unknown to voltcheck.fixture/1"
    yield "tensor_dtype", lambda f: set_data(f, "topk_ids", np.array([[1], [3]], "<f4")), "is float32, not int32"
    yield "tensor_int64", lambda f: set_data(f, "topk_ids", np.array([[1], [3]], "<i8")), "neither float16"
    yield "tensor_shape", lambda f: set_data(f, "topk_ids", np.array([1, 3], "<i4")), "has the shape"
    yield "id_beyond_experts", lambda f: set_data(f, "topk_ids", np.array([[1], [4]], "<i4")), "hash"
    yield "nan_input", lambda f: set_data(f, "hidden", np.full((2, 32), np.nan, "<f2")), "hash"
    yield "tensor_changed", lambda f: f["hidden"].__setitem__((0, 0), 2), "does not have the sha256"
    yield "sha256_missing", lambda f: f["hidden"].attrs.__delitem__("sha256"), "has no sha256"
    yield "soft_link", lambda f: f.__setitem__("link", h5py.SoftLink("/hidden")), "link to elsewhere"
    yield "external_link", lambda f: f.__setitem__("link", h5py.ExternalLink("/etc/passwd", "/")), "link to elsewhere"
    yield "deep_groups", lambda f: f.create_group("a/b/c/d"), "group inside a group"
    yield "many_objects", lambda f: [f.create_group(f"g{i}") for i in range(100)], "64 objects"
    yield "many_attributes", lambda f: [f.attrs.__setitem__(f"a{i}", i) for i in range(300)], "256"
    yield "long_attribute", attribute("note", np.bytes_("x" * 5000)), "4096"
    yield "huge_dataset", lambda f: (f.__delitem__("hidden"), f.create_dataset(
        "hidden", shape=(1 << 40, 32), dtype="<f2", chunks=(1024, 32))), "/hidden"


def rehash(path):
    """Makes the fixture's own hash right for whatever stands in it."""
    with h5py.File(path, "r+") as f:
        tensors = {}
        f.visititems(lambda name, o: tensors.__setitem__("/" + name, o[()]) if isinstance(o, h5py.Dataset) else None)
        shape = {name: int(f.attrs[name]) for name in fixture_file.SIZES}
        f.attrs["hash"] = np.bytes_(fixture_file.content_hash(
            shape, f.attrs["columns"].decode(), float(f.attrs["epsilon"]), tensors))


def consistent_changes():
    """Changes behind which all hashes are right."""
    yield "id_beyond_experts_hashed", lambda f: set_data(f, "topk_ids", np.array([[1], [4]], "<i4")), "is not in 0..3"
    yield "id_negative_hashed", lambda f: set_data(f, "topk_ids", np.array([[-1], [3]], "<i4")), "is not in 0..3"
    yield "id_not_stored", lambda f: set_data(f, "topk_ids", np.array([[1], [2]], "<i4")), "named"
    yield "expert_twice", lambda f: set_data(f, "experts/ids", np.array([1, 1], "<i4")), "does not ascend"
    yield "input_nan", lambda f: set_data(f, "hidden", np.full((2, 32), np.nan, "<f2")), "NaN or Inf at row 0"
    yield "weight_inf", lambda f: set_data(f, "topk_weights", np.full((2, 1), np.inf, "<f4")), "NaN or Inf"
    yield "scale_nan", lambda f: set_data(f, "experts/w2_scales", np.full((2, 1, 32), np.nan, "<f2")), "NaN or Inf"


def run_changes():
    attribute = lambda name, value: lambda f: f.attrs.__setitem__(name, value)
    yield "newer_schema", attribute("schema", "voltcheck.run/9"), "voltcheck.run/9"
    yield "no_schema", lambda f: f.attrs.__delitem__("schema"), "without a schema"
    yield "no_cases", lambda f: f.__delitem__("cases"), ""
    yield "no_verdicts", lambda f: f.__delitem__("cases/verdict"), ""


class Builder:
    def __init__(self, folder, voltcheck):
        self.folder, self.voltcheck, self.cases = folder, voltcheck, []

    def path(self, name):
        return os.path.join(self.folder, name)

    def add(self, name, content, command, expected):
        if content is not None:
            with open(self.path(name), "wb") as file:
                file.write(content)
        self.cases.append((name, [w.replace("FILE", name) for w in command], expected))

    def changed(self, prefix, source, changes, command, after=None):
        for name, change, expected in changes:
            file_name = f"{prefix}_{name}.h5"
            with open(source, "rb") as original, open(self.path(file_name), "wb") as copy:
                copy.write(original.read())
            with h5py.File(self.path(file_name), "r+") as f:
                change(f)
            if after:
                after(self.path(file_name))
            self.add(file_name, None, command, expected)


def build(folder, voltcheck):
    b = Builder(folder, voltcheck)
    good = b.path("good.h5")
    make_fixture(good)
    with open(b.path("good.ptx"), "w") as file:
        file.write(".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n")
    execute = ["exec", "good.ptx", "k", "--grid", "1", "--block", "32", "--arg", "in:FILE"]

    for name, content, expected in safetensors_files():
        b.add(f"st_{name}.safetensors", content, ["inspect", "FILE"], expected)
    for name, content, expected in [c for c in safetensors_files() if c[0] in ("cut_in_data", "gap", "shape_2_63")]:
        b.add(f"outputs_{name}.safetensors", content, ["judge", "good.h5", "FILE"], expected)
        b.add(f"capture_{name}.safetensors", content,
              ["import", "FILE", "--capture", "FILE", "--out", "out.h5"], expected)
    for name, content, expected in npy_files():
        b.add(f"npy_{name}.npy", content, execute, expected)
    for name, content, expected in index_files():
        b.add(f"index_{name}.json", content, ["import", "FILE", "--capture", "FILE", "--out", "out.h5"], expected)
    for name, content, expected in checkpoint_files():
        b.add(f"checkpoint_{name}.safetensors", content, ["import", "FILE", "--capture", "FILE", "--out", "out.h5"], expected)
    for name, content, expected in config_files():
        b.add(f"config_{name}.cfg", content, ["gate", "--config", "FILE", "--out", "out.h5", "--suite", "none"], expected)
    for name, content, expected in suite_files():
        b.add(f"suite_{name}.txt", content, ["gate", "--suite", "./FILE", "--out", "out.h5"], expected)

    # Outputs and captures that are whole files with the wrong things in them.
    outputs = lambda header, data: safetensors(header, data)
    b.add("outputs_none.safetensors", outputs({"x": entry()}, b"\0" * 4), ["judge", "good.h5", "FILE"], "holds none of")
    b.add("outputs_size.safetensors", outputs({"output": entry(shape=(2, 16), offsets=(0, 64))}, b"\0" * 64),
          ["judge", "good.h5", "FILE"], "output: has 32 elements")
    b.add("outputs_dtype.safetensors", outputs({"output": entry("I32", (2, 32), (0, 256))}, b"\0" * 256),
          ["judge", "good.h5", "FILE"], "no floating-point type")
    b.add("outputs_inexact.safetensors", outputs({"output": entry("F32", (2, 32), (0, 256))}, b"\1" * 256),
          ["judge", "good.h5", "FILE"], "rounds nothing")
    b.add("outputs_large.safetensors", outputs({"output": entry("F16", (1000, 32), (0, 64000))}, b"\0" * 64000),
          ["judge", "good.h5", "FILE"], "is larger than any output")
    b.add("import_no_experts.safetensors", outputs({"x": entry()}, b"\0" * 4),
          ["import", "FILE", "--capture", "FILE", "--out", "out.h5"], "no file has experts")

    read_fixture = ["replay", "FILE", "--out", "out.h5"]
    b.changed("fixture", good, fixture_changes(), read_fixture)
    b.changed("fixture", good, consistent_changes(), read_fixture, rehash)
    with open(good, "rb") as file:
        whole = file.read()
    for cut in (0, 4, 8, 64, 96, 800, len(whole) // 2, len(whole) - 1):
        b.add(f"fixture_cut_{cut}.h5", whole[:cut], read_fixture, f"fixture_cut_{cut}.h5: ")
    for at in (9, 40, 100, 1000):
        changed = bytearray(whole)
        changed[at : at + 16] = b"\xff" * 16
        b.add(f"fixture_ff_{at}.h5", bytes(changed), read_fixture, f"fixture_ff_{at}.h5: ")

    run = b.path("good_run.h5")
    subprocess.run([voltcheck, "replay", "--case", CASE, "--out", run, "--quiet"], check=True)
    b.changed("run", run, run_changes(), ["inspect", "FILE"])
    with open(run, "rb") as file:
        whole = file.read()
    for cut in (8, 512, len(whole) // 2, len(whole) - 1):
        b.add(f"run_cut_{cut}.h5", whole[:cut], ["inspect", "FILE"], f"run_cut_{cut}.h5: ")
        b.add(f"run_cut_{cut}.h5", None, ["replay", "--from", "FILE", "--out", "out.h5"], f"run_cut_{cut}.h5: ")
    b.add("run_newer_schema.h5", None, ["replay", "--from", "FILE", "--out", "out.h5"], "run_newer_schema.h5: ")
    b.add("good.h5", None, ["replay", "--from", "FILE", "--out", "out.h5"], "good.h5: ")
    b.add("run_as_fixture.h5", whole, read_fixture, "run_as_fixture.h5: ")

    # What is no file at all.
    os.mkfifo(b.path("pipe.h5"))
    os.symlink("nowhere.h5", b.path("dangling.h5"))
    os.symlink("/dev/zero", b.path("device.h5"))
    os.symlink("loop.h5", b.path("loop.h5"))
    os.mkdir(b.path("folder.h5"))
    for name, expected in (("pipe.h5", "not a regular file"), ("dangling.h5", "No such file"),
                           ("device.h5", "not a regular file"), ("loop.h5", "loop.h5"), ("folder.h5", "no fixture")):
        b.add(name, None, read_fixture, expected)
    for name in ("vast.txt", "vast.h5"):  # a terabyte of nothing
        with open(b.path(name), "wb") as file:
            file.truncate(1 << 40)
    b.add("vast.txt", None, ["gate", "--suite", "./FILE", "--out", "out.h5"], "give a file of at most")
    b.add("vast.txt", None, ["gate", "--regressions", "FILE", "--out", "out.h5"], "give a file of at most")
    b.add("vast.txt", None, ["replay", "--case", CASE, "--kernels", "FILE"], "give a file of at most")
    b.add("vast.txt", None, ["replay", "--case", CASE, "--plugin", "FILE"], "larger than any library")
    b.add("vast.h5", None, read_fixture, "vast.h5")
    for name in ("pipe.h5", "device.h5", "folder.h5"):
        b.add(name, None, ["inspect", "FILE"], name)
        b.add(name, None, ["replay", "--from", "FILE", "--out", "out.h5"], name)
        b.add(name, None, ["merge", "FILE", "--out", "out.h5"], name)
        b.add(name, None, ["gate", "--regressions", "FILE", "--out", "out.h5"], name)
        b.add(name, None, ["judge", "good.h5", "FILE"], name)
        b.add(name, None, execute, name)
        b.add(name, None, ["gate", "--suite", "./FILE", "--out", "out.h5"], name)
        b.add(name, None, ["gate", "--config", "FILE", "--suite", "none", "--out", "out.h5"], "")
    return b.cases

#!/usr/bin/env python3
"""Runs a torch operator on a fixture: what it really writes against what its schema declares, and its outputs.

usage: run_op.py FIXTURE.safetensors NAMESPACE::OPERATOR OUT.safetensors [--load LIBRARY] [--device cuda]

The operator has the signature of the grouped GEMM (docs/capture.md):
    op(out, input, permuted_experts_id, active_expert_offsets, active_expert_ids, ptrs_w, ptrs_s,
       total_slots, k, n, group_size)
It is called for W13 and for W2; SiLU and the ordered reduction between and behind them are done here, in torch.
FIXTURE.safetensors comes from `voltcheck inspect FIXTURE.h5 --tensors FIXTURE.safetensors`; `voltcheck judge
FIXTURE.h5 OUT.safetensors` judges what is written. Exit status: 0, 1 when the operator wrote what it does not
declare, 2 for bad input.
"""

import argparse
import importlib
import os
import sys

import torch

from store import read_safetensors, write_safetensors

COLUMN_OF_NIBBLE = (0, 2, 4, 6, 1, 3, 5, 7)
TORCH_DTYPES = {"F16": torch.float16, "F32": torch.float32, "I32": torch.int32}


class RunError(Exception):
    """What is wrong with the input, in one line."""


def load_fixture(path):
    """Tensors by name, and the metadata."""
    raw, metadata = read_safetensors(path)
    if metadata.get("schema") != "voltcheck.fixture/1":
        raise RunError(f"{path}: was not written by 'voltcheck inspect FIXTURE --tensors'")
    tensors = {}
    for name, (dtype, shape, data) in raw.items():
        if dtype not in TORCH_DTYPES:
            raise RunError(f"{path}: {name} is {dtype}")
        tensors[name] = torch.frombuffer(bytearray(data), dtype=TORCH_DTYPES[dtype]).reshape(shape)
    return tensors, metadata


def unpack(words):
    """[rows, N/8] int32 words of AWQ to [rows, N] nibbles."""
    parts = [(words >> (4 * i)) & 0xF for i in range(8)]
    ordered = [None] * 8
    for nibble, column in enumerate(COLUMN_OF_NIBBLE):
        ordered[column] = parts[nibble]
    return torch.stack(ordered, dim=-1).reshape(words.shape[0], -1)


def interleave(matrix):
    """Columns [gate | up] to g0, u0, g1, u1, ..."""
    gate, up = matrix.chunk(2, dim=1)
    return torch.stack((gate, up), dim=2).reshape(matrix.shape[0], -1)


def pack_sm70(qweight, qzeros, scales, columns):
    """One expert's AWQ matrix as the operator takes it: words of eight k, in tiles of 32 columns, and
    {half s, half -z*s} for each (group, column)."""
    q, z, s = unpack(qweight), unpack(qzeros), scales
    if columns == "interleaved":
        q, z, s = interleave(q), interleave(z), interleave(s)
    k, n = q.shape
    if n % 32:
        raise RunError(f"N = {n} is no multiple of 32, which the packed form needs")
    words = torch.zeros((k // 8, n), dtype=torch.int64)
    for j in range(8):
        words |= q[j::8].to(torch.int64) << (4 * (((j & 1) << 2) + (j >> 1)))
    words = torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32)
    words = words.reshape(k // 8, n // 32, 32).permute(1, 0, 2).contiguous()
    bias = (-(z.to(torch.float32) * s.to(torch.float32))).to(torch.float16)
    return words, torch.stack((s, bias), dim=2).contiguous()


def pointer_table(tensors, stride):
    """[E, 16] bytes: 8-byte pointer, int32 stride, 4 bytes of padding. Experts that nobody holds stay null."""
    table = torch.zeros((len(tensors), 4), dtype=torch.int32)
    for e, tensor in enumerate(tensors):
        if tensor is not None:
            table[e, :2] = torch.tensor([tensor.data_ptr()], dtype=torch.int64).view(torch.int32)
            table[e, 2] = stride
    return table.view(torch.uint8).reshape(len(tensors), 16)


def find_operator(name):
    """The one overload of torch.ops.NAMESPACE.OPERATOR."""
    namespace, _, operator = name.partition("::")
    try:
        packet = getattr(getattr(torch.ops, namespace), operator)
        return getattr(packet, packet.overloads()[0])
    except (AttributeError, RuntimeError):
        raise RunError(f"torch knows no operator {name}; name what registers it with --load") from None


def call_checked(operator, arguments):
    """Calls the operator and returns ({declared writes}, {real writes}) by argument name: bytes are compared."""
    names = [a.name for a in operator._schema.arguments]
    if len(names) != len(arguments):
        raise RunError(f"{operator._schema.name} takes {len(names)} arguments, not {len(arguments)}")
    declared = {a.name for a in operator._schema.arguments if a.alias_info is not None and a.alias_info.is_write}
    before = {n: v.detach().clone() for n, v in zip(names, arguments) if isinstance(v, torch.Tensor)}
    operator(*arguments)
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    written = set()
    for name, value in zip(names, arguments):
        if isinstance(value, torch.Tensor):
            flat = lambda t: t.detach().contiguous().reshape(-1).view(torch.uint8)
            if not torch.equal(flat(before[name]), flat(value)):
                written.add(name)
    return declared, written


class Runner:
    """Runs both GEMMs of a fixture through one operator."""

    def __init__(self, fixture, metadata, operator, device, columns):
        self.f, self.operator, self.device, self.columns = fixture, operator, device, columns
        self.h, self.i = int(metadata["hidden"]), int(metadata["intermediate"])
        self.experts, self.k = int(metadata["experts"]), int(metadata["top_k"])
        self.group, self.tokens = int(metadata["group"]), int(metadata["tokens"])
        self.order = torch.sort(fixture["topk_ids"].reshape(-1), stable=True).indices
        self.declared, self.written = set(), set()
        self._keep = []  # what the pointer tables point at

    def _weights(self, name, columns):
        words, metadata = [None] * self.experts, [None] * self.experts
        for row, e in enumerate(self.f["experts.ids"].tolist()):
            packed = pack_sm70(*(self.f[f"experts.{name}_{part}"][row] for part in ("qweight", "qzeros", "scales")),
                               columns)
            words[e], metadata[e] = (t.to(self.device) for t in packed)
        self._keep += [words, metadata]
        n = next(m for m in metadata if m is not None).shape[1]
        k = next(w for w in words if w is not None).shape[1] * 8
        tables = (pointer_table(words, k // 8 * 32), pointer_table(metadata, n))
        return (t.to(self.device) for t in tables)

    def gemm(self, name, a, n, columns):
        """out [S, n] of one grouped GEMM; outputs start as NaN, so that what is not written shows."""
        slots = self.tokens * self.k
        ids = self.f["topk_ids"].reshape(-1)[self.order].to(torch.int32).to(self.device)
        out = torch.full((slots, n), float("nan"), dtype=torch.float16, device=self.device)
        offsets = torch.full((slots + 1,), -1, dtype=torch.int32, device=self.device)
        active = torch.full((slots,), -1, dtype=torch.int32, device=self.device)
        weights, metadata = self._weights(name, columns)
        a = a.to(self.device).contiguous()
        declared, written = call_checked(self.operator, [out, a, ids, offsets, active, weights, metadata, slots,
                                                         a.shape[1], n, self.group])
        self.declared |= declared
        self.written |= written
        return out.cpu()

    def stage(self):
        """w13, silu, w2 and output of the whole stage."""
        rows = self.f["hidden"][self.order // self.k]
        w13 = self.gemm("w13", rows, 2 * self.i, self.columns)
        gate, up = (w13[:, 0::2], w13[:, 1::2]) if self.columns == "interleaved" else w13.chunk(2, dim=1)
        g = gate.to(torch.float32)
        s = (g / (1 + torch.exp(-g))).to(torch.float16)
        silu = (s.to(torch.float32) * up.to(torch.float32)).to(torch.float16)
        w2 = self.gemm("w2", silu, self.h, "as stored")
        inverse = torch.empty_like(self.order)
        inverse[self.order] = torch.arange(len(self.order))
        # fma: the product of a half and a float is exact in double; its sum is rounded twice, to double and to
        # float, which differs from one rounding in about one of 2^29 cases.
        acc = torch.zeros((self.tokens, self.h), dtype=torch.float32)
        for j in range(self.k):
            y = w2[inverse.reshape(self.tokens, self.k)[:, j]].to(torch.float64)
            weight = self.f["topk_weights"][:, j : j + 1].to(torch.float64)
            acc = (weight * y + acc.to(torch.float64)).to(torch.float32)
        return {"w13": w13, "silu": silu, "w2": w2, "output": acc.to(torch.float16)}


def load(what):
    """A library file, or a module that registers operators when it is imported."""
    if what.endswith(".py"):
        sys.path.insert(0, os.path.dirname(os.path.abspath(what)))
        importlib.import_module(os.path.basename(what)[:-3])
    elif os.path.exists(what):
        torch.ops.load_library(what)
    else:
        importlib.import_module(what)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fixture", help="safetensors file of 'voltcheck inspect --tensors'")
    parser.add_argument("operator", help="NAMESPACE::OPERATOR")
    parser.add_argument("out", help="safetensors file for 'voltcheck judge'")
    parser.add_argument("--load", action="append", default=[], help="library, .py file or module that registers it")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--columns", choices=("interleaved", "halves"), default="interleaved",
                        help="order of W13's columns in the packed weights")
    arguments = parser.parse_args(words)
    try:
        for what in arguments.load:
            load(what)
        fixture, metadata = load_fixture(arguments.fixture)
        runner = Runner(fixture, metadata, find_operator(arguments.operator), arguments.device, arguments.columns)
        outputs = runner.stage()
        write_safetensors(arguments.out, outputs, {"columns": arguments.columns, "operator": arguments.operator})
    except (RunError, OSError, ImportError, KeyError) as error:
        print(f"run_op: {error}", file=sys.stderr)
        return 2
    print(f"declared as written: {', '.join(sorted(runner.declared)) or 'nothing'}")
    print(f"really written:      {', '.join(sorted(runner.written)) or 'nothing'}")
    undeclared = runner.written - runner.declared
    if undeclared:
        print(f"run_op: {arguments.operator} writes {', '.join(sorted(undeclared))} without declaring it; graph capture "
              f"and functionalisation will not see the write", file=sys.stderr)
    return 1 if undeclared else 0


if __name__ == "__main__":
    sys.exit(main())

"""Torch operators of the grouped GEMM's signature on the processor, for the tests of tools/capture.

vctest::stage does what the contract says. vctest::sneaky writes its index buffers without declaring it, and
vctest::wrong drops the last group of K.
"""

import ctypes

import torch

SIGNATURE = ("(Tensor(a!) out, Tensor input, Tensor permuted_experts_id, Tensor{b} active_expert_offsets, "
             "Tensor{c} active_expert_ids, Tensor ptrs_w, Tensor ptrs_s, int total_slots, int k, int n, "
             "int group_size) -> ()")

LIBRARY = torch.library.Library("vctest", "DEF")


def _at(address, count, dtype):
    size = count * torch.empty(0, dtype=dtype).element_size()
    return torch.frombuffer(bytearray(ctypes.string_at(address, size)), dtype=dtype)


def _weights(ptrs_w, ptrs_s, expert, k, n, group):
    """[k, n] contract weights of one expert from behind its pointers."""
    address = lambda table: int(table[expert, :8].clone().view(torch.int64).item())
    words = _at(address(ptrs_w), k // 8 * n, torch.int32).reshape(n // 32, k // 8, 32).to(torch.int64)
    q = torch.empty((k, n), dtype=torch.float32)
    for j in range(8):
        nibble = (words >> (4 * (((j & 1) << 2) + (j >> 1)))) & 0xF
        q[j::8] = nibble.permute(1, 0, 2).reshape(k // 8, n).to(torch.float32)
    meta = _at(address(ptrs_s), k // group * n * 2, torch.float16).reshape(k // group, n, 2).to(torch.float64)
    wide = meta.repeat_interleave(group, dim=0)
    return (q.to(torch.float64) * wide[..., 0] + wide[..., 1]).to(torch.float16)


def stage(out, input, permuted_experts_id, active_expert_offsets, active_expert_ids, ptrs_w, ptrs_s, total_slots, k, n,
          group_size, rows_of_k=None):
    ids = permuted_experts_id[:total_slots]
    active_expert_offsets.fill_(total_slots)
    active_expert_ids.zero_()
    runs, begin = 0, 0
    for row in range(1, total_slots + 1):
        if row == total_slots or ids[row] != ids[begin]:
            expert = int(ids[begin])
            active_expert_offsets[runs], active_expert_ids[runs] = begin, expert
            weights = _weights(ptrs_w, ptrs_s, expert, k, n, group_size).to(torch.float32)
            used = k if rows_of_k is None else rows_of_k
            out[begin:row] = (input[begin:row, :used].to(torch.float32) @ weights[:used]).to(torch.float16)
            runs, begin = runs + 1, row


def wrong(*args):
    stage(*args, rows_of_k=args[8] - args[10])


LIBRARY.define("stage" + SIGNATURE.format(b="(b!)", c="(c!)"))
LIBRARY.impl("stage", stage, "CPU")
LIBRARY.define("sneaky" + SIGNATURE.format(b="", c=""))
LIBRARY.impl("sneaky", stage, "CPU")
LIBRARY.define("wrong" + SIGNATURE.format(b="(b!)", c="(c!)"))
LIBRARY.impl("wrong", wrong, "CPU")
LIBRARY.define("scale(Tensor x, float by=2.0) -> Tensor")
LIBRARY.impl("scale", lambda x, by=2.0: x * by, "CPU")
LIBRARY.define("fail(Tensor x) -> Tensor")


def _fail(x):
    raise RuntimeError("the device is gone")


LIBRARY.impl("fail", _fail, "CPU")

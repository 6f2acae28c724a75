"""An MoE layer with the habits of a vLLM server on SM70, on the processor: operators of vLLM's schemas that are
asked for with hasattr and looked up at each call, a warm-up with made-up data, a graph capture, then a request.

usage: server_like.py FOLDER (with fixture.safetensors, of `voltcheck inspect --tensors`)
"""

import os
import sys

import torch

if __name__ == "__main__":
    assert not hasattr(torch.ops._C, "awq_moe_active_dense_stage_sm70_out"), "nothing is registered yet"

import common  # noqa: F401 (paths)
import run_op
from grouped_gemm_op import SIGNATURE, stage

_C = torch.library.Library("_C", "DEF")
_MOE = torch.library.Library("_moe_C", "DEF")
_C.define("awq_moe_active_dense_stage_sm70_out" + SIGNATURE.format(b="(b!)", c="(c!)"))
_C.impl("awq_moe_active_dense_stage_sm70_out", stage, "CPU")
_C.define("silu_and_mul(Tensor! out, Tensor input) -> ()")
_MOE.define("moe_permute(Tensor input, Tensor topk_ids, Tensor token_expert_indices, Tensor? expert_map, int n_expert, "
            "int n_local_expert, int topk, Tensor! permuted_input, Tensor! expert_first_token_offset, "
            "Tensor! inv_permuted_idx, Tensor! permuted_idx) -> ()")
_MOE.define("moe_unpermute(Tensor permuted_hidden_states, Tensor topk_weights, Tensor inv_permuted_idx, "
            "Tensor? expert_first_token_offset, int topk, Tensor! hidden_states) -> ()")


def silu_and_mul(out, input):
    gate, up = input.to(torch.float32).chunk(2, dim=1)
    out.copy_((gate / (1 + torch.exp(-gate))).to(torch.float16) * up.to(torch.float16))


def moe_permute(input, topk_ids, token_expert_indices, expert_map, n_expert, n_local_expert, topk, permuted_input,
                expert_first_token_offset, inv_permuted_idx, permuted_idx):
    order = torch.sort(topk_ids.reshape(-1), stable=True).indices
    permuted_input.copy_(input[order // topk])
    inv_permuted_idx.reshape(-1)[order] = torch.arange(len(order), dtype=torch.int32)


def moe_unpermute(permuted_hidden_states, topk_weights, inv_permuted_idx, expert_first_token_offset, topk,
                  hidden_states):
    total = torch.zeros(hidden_states.shape, dtype=torch.float64)
    for j in range(topk):
        total += topk_weights[:, j : j + 1].double() * permuted_hidden_states[inv_permuted_idx[:, j].long()].double()
    hidden_states.copy_(total.to(torch.float16))


_C.impl("silu_and_mul", silu_and_mul, "CPU")
_MOE.impl("moe_permute", moe_permute, "CPU")
_MOE.impl("moe_unpermute", moe_unpermute, "CPU")


def _op(name):
    if not hasattr(torch.ops._C, name):
        raise RuntimeError(f"_C::{name} is not available")
    return getattr(torch.ops._C, name)


class Layer:
    """The expert layer on a fixture's weights, columns [gate | up]."""

    def __init__(self, fixture, metadata):
        self.runner = run_op.Runner(fixture, metadata, None, "cpu", "halves")
        self.w13 = list(self.runner._weights("w13", "halves"))
        self.w2 = list(self.runner._weights("w2", "halves"))

    def __call__(self, x, topk_weights, topk_ids):
        r, (tokens, top_k) = self.runner, topk_ids.shape
        slots = tokens * top_k
        half = lambda rows, n: torch.full((rows, n), float("nan"), dtype=torch.float16)
        ints = lambda *shape: torch.full(shape, -1, dtype=torch.int32)
        permuted, inverse, output = half(slots, r.h), ints(tokens, top_k), half(tokens, r.h)
        torch.ops._moe_C.moe_permute(x, topk_ids, ints(tokens, top_k), None, r.experts, r.experts, top_k, permuted,
                                     torch.zeros(r.experts + 1, dtype=torch.int64), inverse, ints(slots))
        ids = torch.sort(topk_ids.reshape(-1), stable=True).values
        gate_up, intermediate, sorted_output = half(slots, 2 * r.i), half(slots, r.i), half(slots, r.h)
        stage_op = _op("awq_moe_active_dense_stage_sm70_out")
        offsets, active = ints(slots + 1), ints(slots)
        stage_op(gate_up, permuted, ids, offsets, active, *self.w13, slots, r.h, 2 * r.i, r.group)
        torch.ops._C.silu_and_mul(intermediate, gate_up)
        stage_op(sorted_output, intermediate, ids, offsets, active, *self.w2, slots, r.i, r.h, r.group)
        torch.ops._moe_C.moe_unpermute(sorted_output, topk_weights, inverse, None, top_k, output)
        return output


def serve(folder):
    switch = os.environ["VOLTCHECK_CAPTURE_SWITCH"]
    fixture, metadata = run_op.load_fixture(os.path.join(folder, "fixture.safetensors"))
    layer = Layer(fixture, metadata)
    request = [fixture[name][:3] for name in ("hidden", "topk_weights", "topk_ids")]
    layer(torch.zeros_like(request[0]), *request[1:])  # the warm-up: nobody wants it recorded
    torch.cuda.is_current_stream_capturing = lambda: True
    layer(*request)
    torch.cuda.is_current_stream_capturing = lambda: False
    open(switch, "w").close()
    layer(*request)
    layer(*request)
    os.unlink(switch)
    layer(*request)


if __name__ == "__main__":
    serve(sys.argv[1])

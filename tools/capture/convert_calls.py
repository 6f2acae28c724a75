#!/usr/bin/env python3
"""Recorded calls of the operators of an MoE layer to safetensors files that `voltcheck import --capture` reads.

usage: convert_calls.py CALLS_FOLDER OUT_FOLDER [--layers N]

CALLS_FOLDER is what recorder.py wrote. A layer is, in the order of the calls: moe_permute (or one of its forms:
hidden states and expert ids), two grouped GEMMs (W13, then W2), and moe_unpermute (router weights and output).
Layers are numbered as they come, from 0 again after N. What is not whole is left out and named.
"""

import argparse
import os
import re
import sys

from store import Store, VoltcheckError, read_journal, read_safetensors

PERMUTE = re.compile(r"moe_permute(_with_scratch)?$")
GEMM = re.compile(r"_moe_.*stage.*_out$")
UNPERMUTE = re.compile(r"moe_unpermute$")


class CallsError(Exception):
    """What is wrong with a folder of calls, in one line."""


def finished_calls(folder):
    """(operator, inputs, outputs, scalars) of every call that came back, in order."""
    try:
        lines = read_journal(folder)
    except (OSError, ValueError) as error:
        raise CallsError(f"{folder}: holds no journal that can be read: {error}") from None
    before = {line["call"]: line for line in lines if line.get("event") == "before"}
    for line in lines:
        if line.get("event") == "replay":
            first = line
        elif line.get("event") == "after" and line["call"] in before:
            first = before[line["call"]]
        else:
            continue
        inputs, _ = read_safetensors(os.path.join(folder, os.path.basename(first["inputs"])))
        outputs, _ = read_safetensors(os.path.join(folder, os.path.basename(line["outputs"])))
        yield line["op"].partition("::")[2], inputs, outputs, first["scalars"]


def _rows(tensor, rows):
    """The first rows of a (dtype, shape, bytes); buffers of a server are longer than what is in them."""
    dtype, shape, raw = tensor
    if len(shape) != 2 or shape[0] < rows:
        raise CallsError(f"a tensor of shape {shape} has no {rows} rows")
    return dtype, [rows, shape[1]], raw[: len(raw) // shape[0] * rows] if shape[0] else raw


def layer_of(calls):
    """The capture that permute, W13, W2 and unpermute of one layer make."""
    permute, w13, w2, unpermute = calls
    tokens, routes = permute["topk_ids"][1]
    slots = w13["scalars"].get("total_slots", tokens * routes)
    if slots != tokens * routes:
        raise CallsError(f"{tokens} tokens of {routes} routes are not {slots} slots")
    capture = {
        "hidden": _rows(permute["input"], tokens), "topk_ids": permute["topk_ids"],
        "topk_weights": _rows(unpermute["topk_weights"], tokens),
        "w13": _rows(w13["out"], slots), "silu": _rows(w2["input"], slots), "w2": _rows(w2["out"], slots),
        "output": _rows(unpermute["hidden_states"], tokens),
    }
    if "permuted_experts_id" in w13:
        capture["permuted_experts_id"] = w13["permuted_experts_id"]
    return capture


def layers_of(folder):
    """(capture, None) or (None, why not) for each layer that was begun."""
    found = []
    for operator, inputs, outputs, scalars in finished_calls(folder):
        call = {**inputs, **outputs, "scalars": scalars}
        if PERMUTE.search(operator):
            if found:
                yield None, f"{len(found)} of its four calls were recorded"
            found = [call]
        elif found and len(found) < 3 and GEMM.search(operator):
            found.append(call)
        elif len(found) == 3 and UNPERMUTE.search(operator):
            found.append(call)
            try:
                yield layer_of(found), None
            except KeyError as missing:
                yield None, f"has no argument {missing}"
            except CallsError as error:
                yield None, str(error)
            found = []
    if found:
        yield None, f"{len(found)} of its four calls were recorded"


def convert(folder, out, layers=None):
    """Writes pass_PPP_layer_LLLL.safetensors for each whole layer; returns (files, lines about the others)."""
    store, files, left_out = None, [], []
    for number, (capture, why_not) in enumerate(layers_of(folder)):
        which, layer = divmod(number, layers) if layers else (0, number)
        name = f"pass_{which:03d}_layer_{layer:04d}"
        if capture is None:
            left_out.append(f"{name}: {why_not}")
            continue
        store = store or Store(out)
        files.append(store.save(name, capture, {"layer": layer, "pass": which, "capture_tool": "convert_calls.py"}))
        store.note(event="layer", layer=layer, file=files[-1],
                   tensors={k: [dtype, shape] for k, (dtype, shape, _) in capture.items()})
    if store:
        store.close()
    if not files:
        raise CallsError(f"{folder}: holds no whole layer ({'; '.join(left_out[:2]) or 'no moe_permute'})")
    return files, left_out


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("calls", help="folder that recorder.py wrote, with calls.jsonl")
    parser.add_argument("folder", help="where to write")
    parser.add_argument("--layers", type=int, help="MoE layers of the model")
    arguments = parser.parse_args(words)
    try:
        files, left_out = convert(arguments.calls, arguments.folder, arguments.layers)
    except (CallsError, VoltcheckError, OSError, KeyError) as error:
        print(f"convert_calls: {error}", file=sys.stderr)
        return 2
    for file in files:
        print(os.path.join(arguments.folder, file))
    for line in left_out:
        print(f"convert_calls: left out {line}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

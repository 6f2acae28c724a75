#!/usr/bin/env python3
"""Per-layer .pt dumps to safetensors files that `voltcheck import --capture` reads.

usage: convert_pt.py DUMP... OUT_FOLDER

A DUMP is a .pt file or a folder of them. Two forms are understood:
- a file holds {label: tensor}, or {layer: {label: tensor}}; the layer is also taken from the file's name
  ("layer_7.pt", "layers.7...");
- a file holds one tensor, and its name has both layer and label ("layer_7.silu_out.pt").
Files are read with weights_only=True: nothing in them is executed. Values are taken over bit for bit.
"""

import argparse
import os
import re
import sys

import torch

from store import Store

# What the dumps call a tensor, and what `voltcheck import` calls it. Others keep their label.
NAMES = {
    "input": "hidden", "hidden_states": "hidden", "topk_ids_i32": "topk_ids", "silu_out": "silu",
    "w13_out": "w13", "w2_out": "w2",
}
LABELS = ("topk_ids_i32", "topk_ids", "topk_weights", "permuted_experts_id", "expert_offsets", "hidden_states",
          "input", "silu_out", "silu", "w13_out", "w13", "w2_out", "w2", "output", "logits")
LAYER = re.compile(r"layers?[._-]?(\d+)")


class DumpError(Exception):
    """What is wrong with a dump, in one line."""


def _dump_files(paths):
    for path in paths:
        if os.path.isdir(path):
            names = sorted(n for n in os.listdir(path) if n.endswith(".pt"))
            if not names:
                raise DumpError(f"{path}: holds no .pt file")
            yield from (os.path.join(path, n) for n in names)
        else:
            yield path


def _load(path):
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises whatever the unpickler meets
        raise DumpError(f"{path}: cannot be loaded with weights_only=True: {str(error).splitlines()[0]}") from None


def _collect(value, layer, label, layers, path):
    """Puts the tensors of one loaded value into layers[layer][label]."""
    if isinstance(value, torch.Tensor):
        if label is None:
            raise DumpError(f"{path}: holds a tensor, and its name has no label ({', '.join(LABELS)})")
        if label in layers.setdefault(layer, {}):
            raise DumpError(f"{path}: layer {layer} has {label} twice")
        layers[layer][label] = value
    elif isinstance(value, dict):
        for key, inner in value.items():
            match = LAYER.search(str(key))
            if isinstance(key, int) or str(key).isdigit() or (match and isinstance(inner, dict)):
                _collect(inner, int(match.group(1)) if match else int(key), None, layers, path)
            else:
                _collect(inner, layer, str(key), layers, path)
    elif label is None:
        raise DumpError(f"{path}: holds a {type(value).__name__}, neither a tensor nor a dictionary")


def read_dumps(paths):
    """{layer: {label: tensor}} of all dumps."""
    layers = {}
    for path in _dump_files(paths):
        stem = os.path.basename(path)[:-3] if path.endswith(".pt") else os.path.basename(path)
        match = LAYER.search(stem)
        label = next((l for l in LABELS if re.search(rf"(^|[._-]){l}$", stem)), None)
        _collect(_load(path), int(match.group(1)) if match else 0, label, layers, path)
    return layers


def to_capture(tensors, where):
    """One layer under the names that the import knows. An input that lies permuted, one row a slot, is brought back
    to one row a token; a permuted output is W2's."""
    capture = {}
    for label, tensor in tensors.items():
        name = NAMES.get(label, label)
        if name in capture:
            raise DumpError(f"{where}: {label} and another label both mean {name}")
        capture[name] = tensor.contiguous()
    for name in ("hidden", "topk_ids", "topk_weights"):
        if name not in capture:
            raise DumpError(f"{where}: has no {name}")
    tokens, routes = capture["topk_ids"].shape
    slots = tokens * routes
    order = torch.sort(capture["topk_ids"].reshape(-1), stable=True).indices  # permuted row -> token*k + route
    if routes > 1 and capture["hidden"].shape[0] == slots:
        permuted, hidden = capture["hidden"], torch.empty_like(capture["hidden"][:tokens])
        hidden[order // routes] = permuted
        if not torch.equal(hidden[order // routes].view(torch.int16), permuted.view(torch.int16)):
            raise DumpError(f"{where}: the rows of the permuted input are not those of a stable sort by expert")
        capture["hidden"] = hidden
    if routes > 1 and "output" in capture and capture["output"].shape[0] == slots and "w2" not in capture:
        capture["w2"] = capture.pop("output")
    return capture


def convert(paths, folder):
    """Writes layer_NNNN.safetensors for each layer and returns their names."""
    captures = {n: to_capture(tensors, f"layer {n}") for n, tensors in sorted(read_dumps(paths).items())}
    store = Store(folder)
    files = []
    for layer, capture in captures.items():
        files.append(store.save(f"layer_{layer:04d}", capture,
                                {"layer": layer, "capture_tool": "convert_pt.py"}))
        store.note(event="layer", layer=layer, file=files[-1],
                   tensors={k: [str(t.dtype).rpartition(".")[2], list(t.shape)] for k, t in capture.items()})
    store.close()
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dump", nargs="+", help=".pt file, or a folder of them")
    parser.add_argument("folder", help="where to write")
    arguments = parser.parse_args()
    try:
        for file in convert(arguments.dump, arguments.folder):
            print(os.path.join(arguments.folder, file))
    except (DumpError, OSError) as error:
        sys.exit(f"convert_pt: {error}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A made-up AWQ shard of about 500 MB (176 experts of H 2560, I 640, group 32) and a capture of 64 tokens that uses
all of it, to measure `voltcheck import`.

usage: make_shard.py SHARD.safetensors CAPTURE.safetensors
"""

import random
import struct
import sys

from common import ROOT  # noqa: F401 (puts voltcheck.py on the path)

import voltcheck

H, I, E, K, G, T = 2560, 640, 176, 10, 32, 64


def main():
    numbers = random.Random(1)
    half = struct.pack("<e", 0.01)
    shard = {}
    for e in range(E):
        for name, k, n in (("gate_proj", H, I), ("up_proj", H, I), ("down_proj", I, H)):
            base = f"model.layers.0.mlp.experts.{e}.{name}"
            shard[f"{base}.qweight"] = ("I32", [k, n // 8], numbers.randbytes(k * n // 2))
            shard[f"{base}.qzeros"] = ("I32", [k // G, n // 8], numbers.randbytes(k // G * n // 2))
            shard[f"{base}.scales"] = ("F16", [k // G, n], half * (k // G * n))
    voltcheck.write_safetensors(sys.argv[1], shard)
    ids = [struct.pack("<i", (t * K + j) % E) for t in range(T) for j in range(K)]
    voltcheck.write_safetensors(sys.argv[2], {
        "hidden": ("F16", [T, H], half * (T * H)),
        "topk_ids": ("I32", [T, K], b"".join(ids)),
        "topk_weights": ("F32", [T, K], struct.pack("<f", 1 / K) * (T * K)),
    })


if __name__ == "__main__":
    main()

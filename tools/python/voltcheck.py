"""Judges the outputs of a kernel against a Voltcheck fixture, from Python. One file, standard library only.

    import voltcheck

    def test_my_kernel():
        output = my_operator(...)            # numpy array or torch tensor, float16, [T, H]
        voltcheck.judge("fixtures/smollm2_l29_dense_cut.h5", {"output": output})

`judge` runs the `voltcheck` command and raises AssertionError with a readable table when a verdict is not
`passed`. The command is the environment variable VOLTCHECK, else `voltcheck` on PATH.

`host_bytes`, `write_safetensors` and `read_safetensors` are public, because whoever captures tensors needs them too.
"""

import ctypes
import json
import os
import shutil
import struct
import subprocess
import tempfile

__all__ = ["VoltcheckError", "host_bytes", "judge", "read_safetensors", "write_safetensors"]

_LARGEST_HEADER = 100_000_000

# What numpy and torch call the dtypes of safetensors.
_DTYPES = {
    "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    "int8": "I8", "uint8": "U8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32",
    "int64": "I64", "uint64": "U64", "bool": "BOOL", "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}
_SIZES = {
    "F8_E4M3": 1, "F8_E5M2": 1,
    "F16": 2, "BF16": 2, "F32": 4, "F64": 8, "I8": 1, "U8": 1, "I16": 2, "U16": 2, "I32": 4, "U32": 4,
    "I64": 8, "U64": 8, "BOOL": 1,
}


class VoltcheckError(Exception):
    """The command could not judge: wrong use, bad input or a missing device. The text is its one line."""


def host_bytes(name, value):
    """(dtype, shape, bytes) of a numpy array, a torch tensor, or such a triple itself."""
    if isinstance(value, tuple):
        return value
    dtype = _DTYPES.get(str(getattr(value, "dtype", "")).rpartition(".")[2])
    if dtype is None:
        raise VoltcheckError(f"tensor {name!r}: {type(value).__name__} of dtype "
                             f"{getattr(value, 'dtype', 'none')} is no array that can be stored")
    shape = [int(n) for n in value.shape]
    if hasattr(value, "data_ptr"):  # torch; its memory is copied as it is, whatever numpy knows of the dtype
        value = value.detach().to("cpu").contiguous()
        return dtype, shape, ctypes.string_at(value.data_ptr(), value.numel() * value.element_size())
    if getattr(value.dtype, "byteorder", "=") == ">":
        raise VoltcheckError(f"tensor {name!r} is big-endian")
    return dtype, shape, value.tobytes()


def write_safetensors(path, tensors, metadata=None):
    """Writes {name: array or tensor} as a safetensors file: whole under its name, or not at all."""
    header, data, offset = {}, [], 0
    if metadata:
        header["__metadata__"] = {str(k): str(v) for k, v in metadata.items()}
    for name, value in tensors.items():
        dtype, shape, raw = host_bytes(name, value)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(raw)]}
        data.append(raw)
        offset += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    temporary = f"{path}.tmp-{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for raw in data:
                file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def read_safetensors(path):
    """({name: (dtype, shape, bytes)}, metadata). Every size is checked before it is used."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        prefix = file.read(8)
        length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else _LARGEST_HEADER + 1
        if length > min(_LARGEST_HEADER, size - 8):
            raise VoltcheckError(f"{path}: is no safetensors file, or cut off")
        try:
            header = json.loads(file.read(length))
            metadata = dict(header.pop("__metadata__", {}))
            entries = {name: (e["dtype"], [int(n) for n in e["shape"]], *map(int, e["data_offsets"]))
                       for name, e in header.items()}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise VoltcheckError(f"{path}: has a header that is none") from None
        tensors = {}
        for name, (dtype, shape, begin, end) in entries.items():
            wanted = _SIZES.get(dtype, 0)
            for n in shape:
                wanted *= n
            if dtype not in _SIZES or not 0 <= begin <= end <= size - 8 - length or end - begin != wanted:
                raise VoltcheckError(f"{path}: tensor {name!r} does not fit its dtype, shape or the file")
            file.seek(8 + length + begin)
            tensors[name] = (dtype, shape, file.read(wanted))
    return tensors, metadata


def _command(binary):
    found = binary or os.environ.get("VOLTCHECK") or shutil.which("voltcheck")
    if not found:
        raise VoltcheckError("no voltcheck command: put it on PATH or name it in VOLTCHECK")
    return found


def _figure(value):
    return "-" if value is None else f"{value:.4g}"


def _explain(result, title):
    """What a person wants to read of a judgement that did not pass."""
    case = result["cases"][0]
    lines = [f"{title}: {case['verdict']}: {case['reason']}", "",
             f"{'stage':8} {'verdict':12} {'max |diff|':>11} {'RMS':>11} {'use':>8} {'over':>8} {'bits differ':>12}"]
    for name, stage in case["stages"].items():
        worst = stage["reference"]["max_abs"] or {}
        use = stage["own"]["max_use"] or {}
        lines.append(
            f"{name:8} {stage['verdict']:12} {_figure(worst.get('value')):>11} "
            f"{_figure(stage['reference']['rms']):>11} {_figure(use.get('value')):>8} "
            f"{stage['own']['over_budget']:>8} {stage['bits']['differing']:>12}")
        if stage["verdict"] != "passed" and use:
            lines.append(f"         worst at row {use['row']}, column {use['col']}: got {use['got']:.8g}, "
                         f"want {use['want']:.8g} +- {use['budget']:.3g}")
    foreign = result["summary"]["foreign"]
    for gemm in ("w13", "w2"):
        if foreign[gemm]["looked_for"]:
            tactics = foreign[gemm]["tactics"]
            lines.append(f"{gemm}: " + (f"bits of tactic {tactics[0]}" if tactics
                                        else "no tactic reproduces the bits"))
    return "\n".join(lines)


def judge(fixture, outputs, *, tokens=None, w13=None, w2=None, columns=None, numerics=None, order=None,
          policy=None, options=(), binary=None, timeout=600):
    """Judges `outputs`, {"w13" | "silu" | "w2" | "output" | "logits": array or tensor} or the path of a
    safetensors file, against `fixture`, the path of a fixture file. Any of the stages will do. Rows of w13,
    silu and w2 are in the operator's sorted order.

    tokens: the outputs are of that many first tokens. w13, w2: tactics that computed them, such as
    "8x256x64/4"; they declare the order of summation. columns, numerics, order, policy: as the command's
    options; `options` are more of them. Returns the parsed JSON (docs/commands/judge.md) when the verdict is
    `passed`, raises AssertionError when it is not, VoltcheckError when nothing could be judged."""
    __tracebackhide__ = True
    with tempfile.TemporaryDirectory(prefix="voltcheck-") as folder:
        if isinstance(outputs, (str, os.PathLike)):
            path = os.fspath(outputs)
        else:
            path = os.path.join(folder, "outputs.safetensors")
            write_safetensors(path, outputs)
        words = [_command(binary), "judge", os.fspath(fixture), path, "--json"]
        for name, value in {"tokens": tokens, "w13": w13, "w2": w2, "columns": columns, "numerics": numerics,
                            "order": order, "policy": policy}.items():
            if value is not None:
                words += [f"--{name}", str(value)]
        try:
            done = subprocess.run(words + list(options), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=timeout, check=False)
        except OSError as error:
            raise VoltcheckError(f"{words[0]}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise VoltcheckError(f"{words[0]} judge: no verdict within {timeout} s") from None
    if done.returncode not in (0, 1):
        raise VoltcheckError((done.stderr.strip() or f"{words[0]} ended with {done.returncode}"))
    result = json.loads(done.stdout)
    if done.returncode == 1:
        raise AssertionError(_explain(result, f"voltcheck judge {os.fspath(fixture)}"))
    return result

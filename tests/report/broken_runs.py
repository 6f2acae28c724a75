"""Run files broken in every way, for every command that reads one: status 2 and one line that names what is wrong,
within bounded memory and time, nothing written. Columns that are empty by right, and single NaN, are read."""

import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

GRID = "h=128;i=64;e=4;k=2;t=1;seed=1..4;w13=8x128x64/1;w2=8x128x64/1;head=16"
LONGEST_SECONDS = 60
LARGEST_KB = 3 << 20

READERS = {
    "report": ["report", "FILE", "--format", "csv", "--out", "-"],
    "diff": ["diff", "FILE", "good.h5"],
    "diff_head": ["diff", "good.h5", "FILE", "--json"],
    "inspect": ["inspect", "FILE"],
    "replay": ["replay", "--from", "FILE", "--quiet"],
    "explain": ["explain", "--from", "FILE"],
    "merge": ["merge", "FILE", "--out", "out.h5", "--quiet"],
}
FORMATS = ["html", "md", "junit", "json"]
# One command for each way to read a run file; the others share it and are asked about a few kinds of damage.
EACH_WAY = ("report", "replay")
EVERYWHERE = ("nan_metrics_w2_reference_rms", "no_cases", "newer_schema", "short_column", "verdict_unknown", "cut_half")


def put(f, name, data, **more):
    """A column in the place of another, on the same scale."""
    if name in f:
        del f[name]
    f.create_dataset(name, data=data, **more)


def fill(name, value):
    return lambda f: f[name].__setitem__(..., value)


def one(name, value):
    return lambda f: f[name].__setitem__(0, value)


def attribute(name, value):
    return lambda f: f.attrs.__setitem__(name, value)


def no_cases(f):
    rows = f["case"].shape[0]
    datasets = []
    f.visititems(lambda name, o: datasets.append(o) if isinstance(o, h5py.Dataset) else None)
    for d in datasets:
        if d.shape and d.shape[0] == rows and d.maxshape[0] is None:
            d.resize(0, axis=0)


def virtual(f):
    layout = h5py.VirtualLayout(shape=f["case"].shape, dtype="<f4")
    layout[...] = h5py.VirtualSource("/etc/passwd", "x", shape=f["case"].shape)
    del f["metrics/w2/own/rms"]
    f.create_virtual_dataset("metrics/w2/own/rms", layout)


def replace(name, make):
    def change(f):
        del f[name]
        f[name] = make(f)

    return change


def changes():
    """(name, change of an open file, what the line says, commands that need not mind: merge restores cases from
    their records, and only a repetition parses descriptors)."""
    nan = float("nan")
    for column in ("metrics/w13/own/rms", "metrics/w2/reference/rms", "metrics/output/own/max_use",
                   "metrics/silu/end_to_end/use_p99", "metrics/w2/posterior/cosine", "metrics/w13/parts/token_rms",
                   "metrics/output/own/budget_rms_relative", "logits/kl_mean", "logits/rms_error",
                   "totals/w2/expert/max_use"):
        yield "nan_" + column.replace("/", "_"), fill(column, nan), f"/{column} is NaN in every", ()
    yield "no_cases", no_cases, "holds no case", ("merge",)
    yield "newer_schema", attribute("schema", "voltcheck.run/2"), "voltcheck.run/2", ()
    yield "no_schema", lambda f: f.attrs.__delitem__("schema"), "schema", ()
    yield "schema_number", attribute("schema", 1), "schema", ()
    yield "schema_numbers", attribute("schema", [1.5, 2]), "schema", ()
    yield "schema_newline", attribute("schema", "voltcheck.run/1\nx"), "schema", ()
    yield "short_column", lambda f: f["metrics/w2/own/rms"].resize(1, axis=0), "/metrics/w2/own/rms has 1 rows", ()
    yield "short_descriptors", lambda f: f["cases/descriptor"].resize(1, axis=0), "/cases/descriptor has 1 rows", ()
    yield "rank_0", replace("metrics/w2/own/rms", lambda f: np.float32(1)), "/metrics/w2/own/rms", ()
    yield "rank_3", replace("metrics/w2/own/rms", lambda f: np.ones((2, 1, 1), "<f4")), "/metrics/w2/own/rms", ()
    yield "group_for_column", lambda f: (f.__delitem__("logits/rms"), f.create_group("logits/rms")), "/logits/rms", ()
    yield "column_for_group", replace("logits", lambda f: np.ones(2)), "/logits", ()
    yield "column_missing", lambda f: f.__delitem__("metrics/w2/own/elements"), "/metrics/w2/own/elements", ()
    yield "cases_missing", lambda f: f.__delitem__("cases"), "/cases/", ()
    yield "scale_missing", lambda f: f.__delitem__("case"), "case", ()
    yield "verdict_numbers", replace("cases/verdict", lambda f: np.ones(2)), "/cases/verdict", ("merge",)
    yield "verdict_unknown", one("cases/verdict", b"superb"), "superb", ("merge",)
    yield "verdict_nul", one("cases/verdict", b"pas\0sed"), "'pas'", ("merge",)
    yield "descriptor_nonsense", one("cases/descriptor", b"h=-1,what"), "", ("report", "diff", "diff_head", "inspect", "merge")
    yield "external_link", replace("cases/verdict", lambda f: h5py.ExternalLink("/etc/passwd", "/x")), "/cases/verdict", ("merge",)
    yield "soft_loop", lambda f: (f.__delitem__("cases/verdict"), f.__setitem__(
        "cases/verdict", h5py.SoftLink("/cases/verdict"))), "/cases/verdict", ("merge",)
    yield "hard_loop", lambda f: (f.__delitem__("logits"), f.__setitem__("logits", f["/"])), "/logits/", ()
    yield "virtual_column", virtual, "/metrics/w2/own/rms", ()
    yield "vast_scale", lambda f: f["case"].resize(1 << 40, axis=0), "case", ()
    yield "vast_column", lambda f: (
        f.__delitem__("metrics/w2/own/rms"), f.create_dataset(
            "metrics/w2/own/rms", shape=(1 << 40,), dtype="<f4", chunks=(1024,))), "/metrics/w2/own/rms", ()
    yield "vast_chunk", lambda f: (f.__delitem__("metrics/w2/own/rms"), f.create_dataset(
        "metrics/w2/own/rms", shape=(2,), maxshape=(None,), dtype="<f4", chunks=(1 << 29,))), "/metrics/w2/own/rms", ()


def run(command, folder):
    child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    try:
        out, err = child.communicate(timeout=LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return "no end", b"", ""
    return child.returncode, out, err.decode(errors="replace")


class Checks:
    def __init__(self, folder, voltcheck):
        self.folder, self.voltcheck, self.failures, self.count = folder, voltcheck, [], 0
        self.before = sorted(os.listdir(folder))

    def call(self, name, words):
        self.count += 1
        return run([self.voltcheck, *(w.replace("FILE", name) for w in words)], self.folder)

    def refused(self, name, words, expected):
        status, out, err = self.call(name, words)
        problems = []
        if status != 2:
            problems.append(f"status {status}")
        if err.count("\n") != 1 or not err.startswith("voltcheck: "):
            problems.append("not one line")
        if expected not in err:
            problems.append(f"does not say {expected!r}")
        if out:
            problems.append("wrote to standard output")
        if sorted(os.listdir(self.folder)) != self.before:
            problems.append("left files")
        if problems:
            self.failures.append(f"{name}: {' '.join(words)}: {', '.join(problems)}: {err.strip()[:300]}")

    def accepted(self, name, words, expected=""):
        status, out, err = self.call(name, words)
        if status != 0 or expected not in out.decode(errors="replace"):
            self.failures.append(f"{name}: {' '.join(words)}: status {status}, {err.strip()[:300]}, no {expected!r}")


def main():
    voltcheck = os.environ["VOLTCHECK"]
    folder = tempfile.mkdtemp(prefix="voltcheck-broken-runs-")
    path = lambda name: os.path.join(folder, name)
    try:
        subprocess.run([voltcheck, "sweep", "--grid", GRID, "--shard", "1/2", "--out", path("good.h5"), "--quiet"],
                       check=True)
        table = list(changes())
        for name, change, _, _ in table:
            shutil.copy(path("good.h5"), path(name + ".h5"))
            with h5py.File(path(name + ".h5"), "r+") as f:
                change(f)
        shutil.copy(path("good.h5"), path("single_nan.h5"))
        with h5py.File(path("single_nan.h5"), "r+") as f:
            f["metrics/w2/own/rms"][1] = np.nan
            f["metrics/w2/departure_got"][...] = np.nan  # by right: nothing differed
        with open(path("good.h5"), "rb") as file:
            whole = file.read()
        bytes_of = {"empty": b"", "foreign": b"PK\3\4 something else" * 100, "cut_half": whole[: len(whole) // 2],
                    "cut_last": whole[:-1], "cut_head": whole[:20]}
        for name, content in bytes_of.items():
            with open(path(name + ".h5"), "wb") as file:
                file.write(content)
        shutil.copy(path("good.h5"), path("other.h5"))
        with h5py.File(path("other.h5"), "r+") as f:
            for i in range(2):
                f["cases/descriptor"][i] = f["cases/descriptor"][i].replace(b"k=2", b"k=1")

        checks = Checks(folder, voltcheck)
        for name, _, expected, indifferent in table:
            for reader, words in READERS.items():
                if reader not in indifferent and (reader in EACH_WAY or name in EVERYWHERE):
                    checks.refused(name + ".h5", words, expected)
        for name in bytes_of:
            for reader, words in READERS.items():
                if reader in EACH_WAY or name in EVERYWHERE:
                    checks.refused(name + ".h5", words, name + ".h5")
            checks.refused(name + ".h5", ["logits", "FILE", "FILE"], name + ".h5")
        for form in FORMATS:
            for name, expected in (("nan_logits_kl_mean", "is NaN in every"), ("no_cases", "holds no case")):
                checks.refused(name + ".h5", ["report", "FILE", "--format", form, "--out", "-"], expected)
        checks.refused("other.h5", ["diff", "good.h5", "FILE"], "no case in common")

        for words in READERS.values():
            if words[0] != "merge":
                checks.accepted("good.h5", words)
        checks.accepted("single_nan.h5", ["inspect", "FILE"], "/metrics/w2/own/rms: 1, first in case ")
        checks.accepted("single_nan.h5", READERS["replay"])
        for form in ("text", "md", "html", "json"):
            checks.accepted("single_nan.h5", ["diff", "good.h5", "FILE", "--format", form], "metrics/w2/own/rms")
        status, _, _ = checks.call("single_nan.h5", ["diff", "good.h5", "FILE", "--fail-on", "regression"])
        if status != 1:
            checks.failures.append(f"single_nan.h5: a figure that became NaN is no regression: status {status}")
        for form in ("html", "md", "junit", "json"):
            checks.accepted("single_nan.h5", ["report", "FILE", "--format", form, "--out", "-"], "metrics/w2/own/rms")
    finally:
        shutil.rmtree(folder)
    print(f"{checks.count} commands on {len(table) + len(bytes_of)} broken files")
    print("\n".join(checks.failures))
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())

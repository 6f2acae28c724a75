#!/usr/bin/env python3
"""Makes the documents of docs/examples again, by the commands that its README gives, and compares.

usage: check_examples.py VOLTCHECK EXAMPLES PTX_FOLDER

Numbers and hashes may differ, for kernels and compilers change; everything else must be equal. Of pages
the plotting library is left out: it is the distribution's.
"""
import os
import re
import subprocess
import sys
import tempfile

MODULE = "grouped_gemm_8x128x64_g32.ptx"


def made(voltcheck, folder):
    """Name of each document, and the text that its command makes."""

    def run(*words):
        result = subprocess.run([voltcheck, *words], cwd=folder, capture_output=True, text=True)
        assert result.returncode in (0, 1), (words, result.stderr)
        return result.stdout

    run("gate", "--suite", "./example.txt", "--out", "base.h5")
    run("gate", "--suite", "./example.txt", "--kernels", "truncating.ptx", "--out", "head.h5")
    for name, form in (("html", "html"), ("md", "md"), ("xml", "junit"), ("json", "json"), ("csv", "csv")):
        yield f"report.{name}", run("report", "head.h5", "--format", form, "--out", "-")
    for name, form in (("txt", "text"), ("md", "md"), ("html", "html")):
        yield f"diff.{name}", run("diff", "base.h5", "head.h5", "--fail-on", "regression", "--format", form)


def structure(text):
    text = re.sub(r"<script>(?:(?!</script>).)*Chart\.js v.*?</script>", "<script>chart</script>", text, flags=re.S)
    text = re.sub(r"\b[0-9a-f]{12,}\b", "HASH", text)
    text = re.sub(r"-?\d[\d,]*(\.\d+)?(e[-+]\d+)?", "N", text)
    return re.sub(r"[ ]+", " ", text).splitlines()  # columns are as wide as their numbers


def main(voltcheck, examples, modules):
    with tempfile.TemporaryDirectory() as folder:
        ptx = open(os.path.join(modules, MODULE)).read()
        with open(os.path.join(folder, "truncating.ptx"), "w") as out:
            out.write(ptx.replace("cvt.rn.f16.f32", "cvt.rz.f16.f32"))
        with open(os.path.join(folder, "example.txt"), "w") as out:
            out.write(open(os.path.join(examples, "example.txt")).read())
        for name, text in made(os.path.realpath(voltcheck), folder):
            kept, now = (structure(t) for t in (open(os.path.join(examples, name)).read(), text))
            if kept != now:
                first = next((i for i, (a, b) in enumerate(zip(kept, now)) if a != b), min(len(kept), len(now)))
                sys.exit(f"{name} is stale from line {first + 1} on: make the documents again as README.md says\n"
                         f"  kept {kept[first][:200] if first < len(kept) else None}\n"
                         f"  now  {now[first][:200] if first < len(now) else None}")
            print(f"{name}: as made now")


main(*sys.argv[1:])

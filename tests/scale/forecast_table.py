"""What `voltcheck sweep --dry-run` foresees beside what the sweep then takes, for quite different sweeps.

usage: forecast_table.py VOLTCHECK [--jobs N]... [--only WORD] [--seconds S]

Prints a Markdown table; ratios are taken / foreseen. Run it on a machine that does nothing else. With --seconds, sweeps
that are foreseen to take longer are skipped. Not a test: time is not the same twice.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

CONTRACT = "h=2560;i=160;e=512;k=10;g=32"
REDUCED = "h=512;i=64;e=64;k=10;g=32"
SWEEPS = [
    ("small, one tactic", ["--grid", "h=64;i=32;e=4;k=2;g=32;t=1,2,4;seed=1..300"]),
    ("tokens 1 to 128", ["--grid", "h=256;i=64;e=16;k=4;g=32;t=1..128;seed=1"]),
    ("all tactics", ["--grid", "h=256;i=128;e=8;k=2;g=64;t=1,8,33;seed=1..6", "--tactics", "all"]),
    ("paths and layouts", ["--grid", "h=256;i=64;e=16;k=4;g=32;t=2,9,17;path=segment,offset,indexed;layout=sorted,shuffled;"
                           "cols=interleaved,halves;seed=1..4"]),
    ("contract shape reduced", ["--grid", REDUCED + ";t=1,2,4,8;seed=1..40"]),
    ("contract shape", ["--grid", CONTRACT + ";t=1,2;seed=1..3"]),
    ("whole descriptor space", ["--random", "150", "--seed", "4"]),
    ("fixtures", ["--suite", "full", "--filter", "data=fixture"]),
    ("undeclared order, other numerics", ["--grid", "h=128;i=64;e=8;k=2;g=32;t=1,8,40;numerics=sm75,sm80-software;seed=1..40",
                                          "--order", "undeclared", "--check", "none"]),
    ("suite smoke, all data", ["--suite", "smoke"]),
]


def journal_peak(path, peak, stop):
    """Keeps the size of the journal beside a run file while it is there."""
    while not stop.is_set():
        try:
            peak[0] = max(peak[0], os.path.getsize(path))
        except OSError:
            pass
        stop.wait(0.02)


def run(command, folder):
    """Wall seconds, standard output, peak memory in MB and the journal's largest size of a command."""
    peak, stop = [0], threading.Event()
    watch = threading.Thread(target=journal_peak, args=(os.path.join(folder, ".run.h5.journal"), peak, stop))
    watch.start()
    began = time.monotonic()
    with open(os.path.join(folder, "out"), "w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
        out.seek(0)
        text = out.read()
    stop.set()
    watch.join()
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"status {status}: {' '.join(command)}")
    return seconds, text, usage.ru_maxrss / 1024, peak[0]


parser = argparse.ArgumentParser()
parser.add_argument("voltcheck")
parser.add_argument("--jobs", type=int, action="append")
parser.add_argument("--only", default="")
parser.add_argument("--seconds", type=float, default=1e9)
arguments = parser.parse_args()
print("| sweep | jobs | cases | foreseen | taken | ratio | run file | ratio | journal | ratio | calibration |")
print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
for name, words in SWEEPS:
    if arguments.only not in name:
        continue
    for jobs in arguments.jobs or [os.cpu_count()]:
        with tempfile.TemporaryDirectory() as folder:
            command = [os.path.realpath(arguments.voltcheck), "sweep", *words, "--jobs", str(jobs), "--out", "run.h5"]
            calibration, text, _, _ = run(command + ["--dry-run", "--json"], folder)
            seen = json.loads(text)
            if seen["wall_seconds"] > arguments.seconds:
                print(f"| {name} | {jobs} | {seen['cases']} | {seen['wall_seconds']:.1f} s | skipped |", flush=True)
                continue
            seconds, _, memory, journal = run(command + ["--quiet"], folder)
            size = os.path.getsize(os.path.join(folder, "run.h5"))
            print(f"| {name} | {jobs} | {seen['cases']} | {seen['wall_seconds']:.1f} s | {seconds:.1f} s "
                  f"| {seconds / seen['wall_seconds']:.2f} | {size / 1e6:.2f} MB | {size / seen['run_file_bytes']:.2f} "
                  f"| {journal / 1e6:.2f} MB | {journal / seen['journal_bytes']:.2f} | {calibration:.1f} s |", flush=True)

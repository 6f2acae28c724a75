#!/usr/bin/env python3
"""Prints how each benchmark of a Google Benchmark JSON file compares with its plain counterpart.

A benchmark "Plain<Something>/<arguments>" is the baseline of every other "<Name>/<arguments>" with the
same arguments. The ratio is the baseline's time over the other's.
"""

import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        runs = [run for run in json.load(file)["benchmarks"] if run.get("run_type") == "iteration"]
    times = {run["name"].removesuffix("/manual_time"): (run["real_time"], run["time_unit"]) for run in runs}
    baselines = {}
    for name, time in times.items():
        kind, _, arguments = name.partition("/")
        if kind.startswith("Plain"):
            baselines[arguments] = (kind, time)
    for name, (time, unit) in times.items():
        kind, _, arguments = name.partition("/")
        if kind.startswith("Plain") or arguments not in baselines:
            continue
        baseline, (baseline_time, baseline_unit) = baselines[arguments]
        if unit == baseline_unit and time > 0:
            print(f"ratio {baseline_time / time:6.3f}  {name} against {baseline}")


if __name__ == "__main__":
    main()

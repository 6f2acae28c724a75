"""Every malformed file: status 2, one line that says what, no crash, at most 1 GB of memory, nothing written."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

import hostile_files

LARGEST_KB = 1 << 20  # 1 GB
LONGEST_SECONDS = 10


def run(command, folder):
    """(status, standard output, standard error, largest resident size in KB). A signal is a negative status."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        end = time.monotonic() + LONGEST_SECONDS
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > end:
                child.kill()
                os.wait4(child.pid, 0)
                return "no end within 10 s", b"", b"", 0
            time.sleep(0.002)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return child.returncode, out.read(), err.read(), usage.ru_maxrss


def listing(folder):
    return {entry.name: entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder)}


def main():
    voltcheck = os.environ["VOLTCHECK"]
    folder = tempfile.mkdtemp(prefix="voltcheck-hostile-")
    failures, largest = [], 0
    try:
        cases = hostile_files.build(folder, voltcheck)
        before = listing(folder)
        for name, command, expected in cases:
            status, out, err, memory = run([voltcheck, *command], folder)
            largest = max(largest, memory)
            text = err.decode(errors="replace")
            problems = []
            if status != 2:
                problems.append(f"status {status}")
            if text.count("\n") != 1 or not text.startswith("voltcheck: "):
                problems.append("not one line")
            if expected not in text:
                problems.append(f"does not say {expected!r}")
            if out:
                problems.append("wrote to standard output")
            if memory > LARGEST_KB:
                problems.append(f"took {memory} KB")
            if listing(folder) != before:
                problems.append(f"left {set(listing(folder)) ^ set(before)}")
            if problems:
                failures.append(f"{name} ({' '.join(command[:2])}): {', '.join(problems)}: {text.strip()[:300]}")
    finally:
        shutil.rmtree(folder)
    files = len({name for name, _, _ in cases})
    print(f"{len(cases)} commands on {files} malformed files, largest memory {largest // 1024} MB")
    if files < 60:
        failures.append(f"only {files} files")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

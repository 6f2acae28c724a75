#!/usr/bin/env python3
"""Ends commands at random moments, and takes their disk away.

  kill_moments.py kill VOLTCHECK [ROUNDS [SEED]]       SIGKILL; then the same command with --resume
  kill_moments.py interrupt VOLTCHECK [ROUNDS [SEED]]  SIGINT or SIGTERM, now and then twice
  kill_moments.py disk VOLTCHECK [ROUNDS]              file systems of many sizes, all too small

After each accident no finished case may be missing, and a run file is there whole or not at all; in the
end its bytes are those of an undisturbed run, and nothing else is left in the folder. Journals are read here
by their description in docs/run-file.md. `disk` needs a mount of its own: as root, or as a user who
may make namespaces; else it says so with status 77.
"""
import collections
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

INTERRUPTED = 4
GRID = "h=64;i=32;e=4;k=2;g=32;t=1,2,4;seed=1..{}"
SUITE = "h=64;i=32;e=4;k=2;g=32;t=1,2,4;seed=1..8\n"


def check(truth, *what):
    if not truth:
        sys.exit("WRONG: " + " ".join(str(one) for one in what))


def journal_entries(path):
    """Finished cases by number; a torn entry at the end is none."""
    try:
        data = open(path, "rb").read()
    except FileNotFoundError:
        return {}
    if len(data) < 16 or data[:8] != b"VCJRNL1\n":
        return {}
    at = 16 + struct.unpack_from("<I", data, 8)[0]
    entries = {}
    while at + 16 <= len(data):
        length, checksum, number = struct.unpack_from("<IIQ", data, at)
        body = data[at + 16 : at + 16 + length]
        if len(body) < length or zlib.crc32(data[at + 8 : at + 16] + body) != checksum:
            break
        entries[number] = body
        at += 16 + length
    return entries


def journal_lines(path):
    """What a journal of `mutate` holds, by mutant or block of honest cases."""
    try:
        lines = open(path, "rb").read().split(b"\n")[:-1]
    except FileNotFoundError:
        return {}
    found = {}
    for line in lines[1:]:
        entry = json.loads(line)
        found[entry.get("id", entry.get("honest_from"))] = line
    return found


class Work:
    """A command that writes `out`, and where it keeps what is finished."""

    def __init__(self, name, words, out="run.h5", resume=("--resume",), entries=None, before=()):
        self.name, self.words, self.out = name, words, out
        self.resume, self.entries, self.before = list(resume), entries, before

    def finished(self, folder):
        return self.entries(folder) if self.entries else {}


def case_journal(folder):
    return journal_entries(os.path.join(folder, ".run.h5.journal"))


def works():
    yield Work("sweep", ["sweep", "--grid", GRID.format(64), "--out", "run.h5", "--quiet"],
               entries=case_journal)
    yield Work("sweep --jobs 1", ["sweep", "--grid", GRID.format(16), "--out", "run.h5", "--jobs", "1"],
               entries=case_journal)
    yield Work("gate", ["gate", "--suite", "./suite.txt", "--out", "run.h5", "--quiet"],
               entries=case_journal)
    yield Work("replay", ["replay", "--from", "other.h5", "--out", "run.h5", "--quiet"],
               entries=case_journal,
               before=[["sweep", "--grid", GRID.format(32), "--out", "other.h5", "--quiet"]])
    yield Work("mutate", ["mutate", "--kernel", "moe_segments", "--operators", "drop-barrier", "--honest", "6",
                          "--kill-only", "--ptxas", "none", "--quiet", "--journal", "mutants.jsonl",
                          "--out", "run.h5"], resume=(),
               entries=lambda folder: journal_lines(os.path.join(folder, "mutants.jsonl")))
    shard = ["sweep", "--grid", GRID.format(16), "--quiet", "--shard"]
    shards = [f"shard{k}.h5" for k in (1, 2, 3)]
    yield Work("merge", ["merge", *shards, "--out", "run.h5", "--quiet"], resume=(),
               before=[[*shard, f"{k + 1}/3", "--out", name] for k, name in enumerate(shards)])
    yield Work("report", ["report", "other.h5", "--out", "run.html"], out="run.html", resume=(),
               before=[["sweep", "--grid", GRID.format(16), "--out", "other.h5", "--quiet"]])


class Bench:
    def __init__(self, voltcheck, work, folder):
        self.voltcheck, self.work, self.folder = voltcheck, work, folder
        with open(os.path.join(folder, "suite.txt"), "w") as suite:
            suite.write(SUITE)
        for words in work.before:
            check(self.run(words)[0] == 0, work.name, "cannot begin:", words)
        self.mine = set(os.listdir(folder))
        begin = time.monotonic()
        status, error = self.run(work.words)
        self.seconds = time.monotonic() - begin
        check(status == 0, work.name, "fails undisturbed:", error)
        self.whole = self.read(work.out)
        self.clear()

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        try:
            return open(self.path(name), "rb").read()
        except FileNotFoundError:
            return None

    def clear(self):
        for name in set(os.listdir(self.folder)) - self.mine:
            os.remove(self.path(name))

    def start(self, words):
        return subprocess.Popen([self.voltcheck, *words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def run(self, words):
        process = self.start(words)
        error = process.communicate()[1]
        return process.returncode, error

    def left_over(self):
        """What lies in the folder beside the outcome; a journal that `mutate` was told to keep may."""
        return sorted(set(os.listdir(self.folder)) - self.mine - {self.work.out, "mutants.jsonl"})

    def expect_kept(self, before, where):
        """Nothing that was finished is gone, and the run file is there whole or not at all."""
        out = self.read(self.work.out)
        if out == self.whole:
            return before
        now = self.work.finished(self.folder)
        for number, entry in before.items():
            check(now.get(number) == entry, where, "lost", number)
        return now

    def finish(self, where):
        status, error = self.run(self.work.words + self.work.resume)
        check(status == 0, where, "does not go on:", status, error)
        check(self.read(self.work.out) == self.whole, where, "ends in other bytes")
        check(not self.left_over(), where, "leaves", self.left_over())


def kill(bench, rounds, dice):
    work = bench.work
    counts = collections.Counter()
    for number in range(rounds):
        bench.clear()
        before = {}
        for attempt in range(1 + dice.randrange(4)):
            where = f"{work.name}, round {number}, kill {attempt}:"
            had = bench.read(work.out)
            process = bench.start(work.words + work.resume)
            time.sleep(dice.random() * 1.1 * bench.seconds)
            process.kill()
            process.communicate()
            counts["killed" if process.returncode == -signal.SIGKILL else "too late"] += 1
            out = bench.read(work.out)
            check(out in (had, None, bench.whole), where, "a torn file")
            if process.returncode == -signal.SIGKILL:
                counts["while a file was being written"] += any(".tmp-" in n for n in bench.left_over())
                counts["with the new file in place"] += out is not None and had is None
            before = bench.expect_kept(before, where)
            counts["with finished cases"] += bool(before)
            if process.returncode == 0:
                break
        bench.finish(f"{work.name}, round {number}:")
    return counts


def interrupt(bench, rounds, dice):
    work = bench.work
    counts = collections.Counter()
    for number in range(rounds):
        bench.clear()
        where = f"{work.name}, round {number}:"
        process = bench.start(work.words)
        # From the very first moment on, with most of them in the first tenth of a second.
        time.sleep(dice.random() * (0.1 if number % 2 else 1.1 * bench.seconds))
        process.send_signal(dice.choice([signal.SIGINT, signal.SIGTERM]))
        twice = dice.random() < 0.3
        if twice:
            time.sleep(dice.random() * 0.02)
            process.send_signal(dice.choice([signal.SIGINT, signal.SIGTERM]))
        error = process.communicate()[1]
        if process.returncode in (-signal.SIGINT, -signal.SIGTERM):
            # The loader has not yet brought in the program that could tell of it.
            counts["before the program"] += 1
            check(not bench.left_over() and bench.read(work.out) is None, where, "dies by the signal")
            continue
        counts[f"status {process.returncode}" + (", twice" if twice else "")] += 1
        check(process.returncode in (0, INTERRUPTED), where, "status", process.returncode, error)
        if process.returncode == INTERRUPTED:
            check(error.count("\n") >= 1 and "interrupted" in error, where, "says", error)
        else:
            check(bench.read(work.out) == bench.whole, where, "status 0 without its file")
        check(not [n for n in bench.left_over() if ".tmp-" in n], where, "leaves", bench.left_over())
        finished = work.finished(bench.folder)
        counts["with finished cases"] += bool(finished) and process.returncode == INTERRUPTED
        bench.finish(where)
    return counts


def disk(bench, rounds, dice):
    """The command on ever larger file systems, until one is large enough."""
    work = bench.work
    counts = collections.Counter()
    outside = bench.folder
    small = os.path.join(outside, "disk")
    os.makedirs(small, exist_ok=True)
    need = len(bench.whole) + 600_000
    for number in range(rounds):
        size = 16_384 + (need - 16_384) * number // rounds // 4096 * 4096
        where = f"{work.name} in {size} bytes:"
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "none", small], check=True)
        try:
            for name in bench.mine - {"disk"}:
                os.symlink(os.path.join(outside, name), os.path.join(small, name))
            bench.folder = small
            old = b"what was there before"
            with open(bench.path(work.out), "wb") as there:
                there.write(old)
            status, error = bench.run(work.words)
            counts[f"status {status}"] += 1
            if status == 0:
                check(bench.read(work.out) == bench.whole, where, "status 0 without its file")
            else:
                check(status == 2, where, "status", status, error)
                check(error.count("\n") == 1 and "cannot be written" in error, where, "says", error)
                check(bench.read(work.out) == old, where, "touches the older file")
                check(not [n for n in bench.left_over() if ".tmp-" in n], where, "leaves", bench.left_over())
            before = work.finished(small)
            counts["with finished cases"] += bool(before) and status != 0
            subprocess.run(["mount", "-o", "remount,size=64m", small], check=True)
            bench.expect_kept(before, where)
            bench.finish(where)
        finally:
            bench.folder = outside
            subprocess.run(["umount", small], check=True)
    os.rmdir(small)
    return counts


def may_mount():
    with tempfile.TemporaryDirectory() as folder:
        probe = ["unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "none", folder]
        try:
            return subprocess.run(probe, capture_output=True).returncode == 0
        except FileNotFoundError:
            return False


def main():
    mode, voltcheck = sys.argv[1], os.path.realpath(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    if mode == "disk" and "KILL_MOMENTS_INSIDE" not in os.environ:
        if not may_mount():
            print("skipped: no file system can be mounted here")
            sys.exit(77)
        os.environ["KILL_MOMENTS_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--map-root-user", sys.executable, *sys.argv])
    accident = {"kill": kill, "interrupt": interrupt, "disk": disk}[mode]
    only = sys.argv[5:]
    for work in works():
        if only and work.name not in only:
            continue
        folder = tempfile.mkdtemp(prefix="voltcheck-moments-")
        try:
            counts = accident(Bench(voltcheck, work, folder), rounds, random.Random(seed))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"{work.name}: {rounds} rounds; " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items()) if n),
              flush=True)


main()

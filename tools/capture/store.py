"""Where captured tensors go: a folder of safetensors files and a journal of JSON lines, `calls.jsonl`."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from voltcheck import VoltcheckError, host_bytes, read_safetensors, write_safetensors  # noqa: E402


class Store:
    """Appends to a folder, which it makes. Every line of the journal is on the disk before `note` returns, so
    that a crash right behind it loses nothing."""

    def __init__(self, folder):
        self.folder = os.fspath(folder)
        os.makedirs(self.folder, exist_ok=True)
        self._journal = open(os.path.join(self.folder, "calls.jsonl"), "a", encoding="utf-8")

    def save(self, name, tensors, metadata=None):
        """Writes NAME.safetensors and returns that name."""
        file = f"{name}.safetensors"
        write_safetensors(os.path.join(self.folder, file), tensors, metadata)
        return file

    def note(self, **fields):
        self._journal.write(json.dumps(fields, allow_nan=False) + "\n")
        self._journal.flush()
        os.fsync(self._journal.fileno())

    def close(self):
        self._journal.close()


def read_journal(folder):
    """The lines of a folder's journal as dictionaries; a last line that a crash cut off is left out."""
    lines = []
    with open(os.path.join(folder, "calls.jsonl"), encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                lines.append(json.loads(line))
    return lines


__all__ = ["Store", "VoltcheckError", "host_bytes", "read_journal", "read_safetensors", "write_safetensors"]

"""Records the logits of teacher-forced text: one row for each position, as the model gave them.

    import logits

    record = logits.LogitsRecorder("captures/logits")
    handle = record.hook(model.lm_head)                      # any module that returns logits
    model(token_ids)                                         # teacher-forced: the text is given, nothing is sampled
    handle.remove()
    record.close()

Each forward gives NNNNNN.logits.safetensors with `logits` [rows, vocabulary] in its own dtype, and a line in
calls.jsonl. `join` makes one file of a folder, which `voltcheck logits` compares and, beside hidden states and a
head, `voltcheck import` takes in.
"""

import os
import sys

import torch

from store import Store, read_journal, read_safetensors, write_safetensors


class LogitsRecorder:
    """vocabulary: ids to keep (all when None). max_rows: of everything written."""

    def __init__(self, folder, vocabulary=None, max_rows=1 << 20):
        self._store = Store(folder)
        self._vocabulary = None if vocabulary is None else torch.as_tensor(vocabulary, dtype=torch.int64)
        self._left, self._number = max_rows, 0

    def hook(self, module):
        """Records every forward of `module`; `remove()` on what it returns ends that."""
        return module.register_forward_hook(lambda _module, _inputs, output: self.add(output))

    def add(self, output):
        """Records logits [..., vocabulary], or the first tensor of a tuple."""
        tensor = output[0] if isinstance(output, (tuple, list)) else output
        if not isinstance(tensor, torch.Tensor) or tensor.dim() < 1:
            return
        rows = tensor.detach().reshape(-1, tensor.shape[-1])[: self._left]
        if rows.shape[0] == 0:
            return
        if self._vocabulary is not None:
            rows = rows.index_select(1, self._vocabulary.to(rows.device))
        self._left -= rows.shape[0]
        self._number += 1
        tensors = {"logits": rows.contiguous()}
        if self._vocabulary is not None:
            tensors["head.token_ids"] = self._vocabulary.to(torch.int32)
        file = self._store.save(f"{self._number:06d}.logits", tensors)
        self._store.note(event="logits", call=self._number, file=file, rows=rows.shape[0],
                         dtype=str(rows.dtype).rpartition(".")[2])

    def close(self):
        self._store.close()


def join(folder, out):
    """All rows of a folder's journal, in order, as one safetensors file with one tensor `logits`."""
    rows, raw, vocabulary, ids = 0, [], None, None
    for line in read_journal(folder):
        if line["event"] != "logits":
            continue
        tensors, _ = read_safetensors(os.path.join(folder, line["file"]))
        dtype, shape, data = tensors["logits"]
        if vocabulary not in (None, (dtype, shape[1])):
            raise ValueError(f"{line['file']}: has another vocabulary or dtype than the rows before it")
        vocabulary, rows = (dtype, shape[1]), rows + shape[0]
        ids = tensors.get("head.token_ids", ids)
        raw.append(data)
    if vocabulary is None:
        raise ValueError(f"{folder}: holds no logits")
    joined = {"logits": (vocabulary[0], [rows, vocabulary[1]], b"".join(raw))}
    if ids is not None:
        joined["head.token_ids"] = ids
    write_safetensors(out, joined, {"capture_tool": "logits.py"})
    return rows


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: logits.py FOLDER OUT.safetensors (joins the rows of a recorded folder)")
    try:
        print(f"{join(sys.argv[1], sys.argv[2])} rows")
    except (OSError, ValueError, KeyError) as problem:
        sys.exit(f"logits: {problem}")

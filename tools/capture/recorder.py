"""Records what goes into a torch custom operator and what comes out of it.

    import recorder

    record = recorder.Recorder("captures", include=["_C::awq_moe_*"])
    record.wrap("_C::awq_moe_active_dense_stage_sm70_out")   # calls through torch.ops, from now on
    ...                                                      # run the model
    record.close()

Inputs are on the disk before the operator runs, so that a crash inside it leaves its reproducer behind. Each
call gives NNNNNN.inputs.safetensors, NNNNNN.outputs.safetensors (what was returned, what the schema says was
written, and what was written without saying so) and two lines in calls.jsonl. What cannot be recorded is said in
the journal and on standard error; the operator runs in any case. README.md shows it on a vLLM server.
"""

import fnmatch
import os
import signal
import sys
import threading

import torch
from torch.utils._python_dispatch import TorchDispatchMode

import hook
from call import Call, graph_is_captured
from store import Store


class Recorder:
    """folder: where to write; a forked process writes to process-PID in it. Or a function of the process's number.
    include, exclude: patterns of "namespace::operator". max_calls: of each operator. max_bytes: of everything
    written. max_call_bytes: a call with more is noted, not written. every: only each so-many-th call. enabled: a
    function; calls go by unseen while it says False.

    A call while a CUDA graph is captured cannot be copied to the host. on_capture="note" writes a line and nothing
    else; "copy" makes the graph itself copy the tensors (on the device, at each replay), and `snapshot` writes
    what the latest replay left there. `capturing` says whether a graph is captured at the moment."""

    def __init__(self, folder, include=("*",), exclude=(), max_calls=64, max_bytes=4 << 30,
                 max_call_bytes=1 << 30, every=1, on_capture="note", capturing=graph_is_captured,
                 enabled=lambda: True):
        if on_capture not in ("note", "copy"):
            raise ValueError("on_capture is 'note' or 'copy'")
        maker = os.getpid()
        self._folder = folder if callable(folder) else (
            lambda pid: folder if pid == maker else os.path.join(folder, f"process-{pid}"))
        self._include, self._exclude = tuple(include), tuple(exclude)
        self._max_calls, self._max_bytes, self._max_call_bytes = max_calls, max_bytes, max_call_bytes
        self._every, self._on_capture = every, on_capture
        self._capturing, self._enabled = capturing, enabled
        self._seen, self._kept, self._noted, self._number, self._written = {}, {}, {}, 0, 0
        self._graph_calls, self._wrapped, self._complaints = [], [], set()
        self._local, self._closed, self._store = threading.local(), False, None
        self._start_process()
        os.register_at_fork(after_in_child=self._start_process)
        if not callable(folder):
            self._journal()

    def _start_process(self):
        self._lock, self._store = threading.RLock(), None

    def _journal(self):
        """The store of this process, opened when something is first written."""
        with self._lock:
            if self._store is None:
                self._store = Store(self._folder(os.getpid()))
            return self._store

    def _note(self, **fields):
        with self._lock:
            self._journal().note(**fields)

    # ---- which calls ----

    def wants(self, name):
        """Whether the filters take an operator, "namespace::operator" without its overload."""
        return (any(fnmatch.fnmatchcase(name, p) for p in self._include)
                and not any(fnmatch.fnmatchcase(name, p) for p in self._exclude))

    def _take(self, call):
        """Numbers a call that is to be written; False: it is not."""
        size, in_graph = call.input_bytes(), self._capturing()
        with self._lock:
            seen = self._seen[call.name] = self._seen.get(call.name, 0) + 1
            only_noted = in_graph and self._on_capture == "note"
            counts = self._noted if only_noted else self._kept
            if (seen - 1) % self._every or counts.get(call.name, 0) >= self._max_calls:
                return False
            self._number += 1
            call.number = self._number
            if not only_noted and (size > self._max_call_bytes or self._written + size > self._max_bytes):
                self._note(event="too large", call=call.number, op=call.name, bytes=size, tensors=call.shapes(),
                           scalars=call.scalars)
                return False
            counts[call.name] = counts.get(call.name, 0) + 1
            if in_graph:
                self._note(event="capturing", call=call.number, op=call.name, scalars=call.scalars,
                           declared_writes=call.declared, tensors=call.shapes(), copied=not only_noted)
            else:
                self._written += size
        call.in_graph = in_graph
        return not only_noted

    # ---- one call ----

    def record(self, function, schema, name, args, kwargs, through_mode=False):
        """Calls `function` once and writes what went in, before, and what came out, after."""
        local = self._local
        doubled = through_mode and getattr(local, "running", None) == name  # recorded on its way here
        if doubled:
            local.running = None
        if doubled or self._closed or getattr(local, "busy", False) or not self.wants(name) or not self._enabled():
            return function(*args, **kwargs)
        call = self._guarded(name, self._before, schema, name, args, kwargs)
        outer, local.running = getattr(local, "running", None), None if through_mode else name
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            if call is not None:
                self._guarded(name, self._note, event="raised", call=call.number, op=name,
                              error=f"{type(error).__name__}: {error}")
            raise
        finally:
            local.running = outer
        if call is not None:
            self._guarded(name, self._after, call, result)
        return result

    def _guarded(self, name, step, *args, **kwargs):
        """A recorder must not be what stops a model: what goes wrong in it is told, once each."""
        self._local.busy = True
        try:
            return step(*args, **kwargs)
        except Exception as error:
            text = f"{name} is not recorded: {type(error).__name__}: {error}"
            if text not in self._complaints:
                self._complaints.add(text)
                print(f"recorder: {text}", file=sys.stderr)
                try:
                    self._note(event="failed", op=name, error=f"{type(error).__name__}: {error}")
                except Exception:
                    pass  # the disk itself, perhaps: it was said on standard error
            return None
        finally:
            self._local.busy = False

    def _before(self, schema, name, args, kwargs):
        call = Call(schema, name, args, kwargs)
        if call.is_traced() or not self._take(call):
            return None
        if call.in_graph:
            call.copy_inputs()
            return call
        call.read_inputs()
        file = self._journal().save(f"{call.number:06d}.inputs", call.inputs, {"op": name, "call": call.number})
        extra = {"strides": call.strides()} if call.strides() else {}
        self._note(event="before", call=call.number, op=name, schema=str(schema), inputs=file,
                   scalars=call.scalars, declared_writes=call.declared, **extra)
        return call

    def _after(self, call, result):
        if call.in_graph:
            call.copy_outputs(result)
            with self._lock:
                self._graph_calls.append(call)
            return
        outputs, fields = call.outputs(result)
        self._write("after", call.number, call.name, {"outputs": outputs}, {}, **fields)

    def _write(self, event, number, name, parts, metadata, **fields):
        """Writes {part: tensors} of a call and its line."""
        size = sum(len(raw) for tensors in parts.values() for _, _, raw in tensors.values())
        with self._lock:
            fits = self._written + size <= self._max_bytes
            self._written += size if fits else 0
        if not fits:
            self._note(event="too large", call=number, op=name, bytes=size)
            return
        metadata = {"op": name, "call": number, **metadata}
        files = {part: self._journal().save(f"{number:06d}.{part}", tensors, metadata)
                 for part, tensors in parts.items()}
        self._note(event=event, call=number, op=name, **files, **fields)

    # ---- CUDA graphs ----

    def snapshot(self):
        """Writes what the latest replay left in the copies of captured calls. Call it between replays."""
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        with self._lock:
            calls = list(self._graph_calls)
        for call in calls:
            with self._lock:
                self._number += 1
                number = self._number
            inputs, outputs, fields = call.replayed()
            self._write("replay", number, call.name, {"inputs": inputs, "outputs": outputs},
                        {"captured_call": call.number}, captured_call=call.number, scalars=call.scalars, **fields)

    # ---- how calls are reached ----

    def wrap(self, name):
        """Records calls of torch.ops.NAMESPACE.OPERATOR. A library which registers the operator may be loaded later;
        until then torch.ops has no such operator, as without the recorder."""
        namespace, _, operator = name.partition("::")
        if not namespace or not operator or "." in operator or ":" in operator:
            raise ValueError(f"{name!r} is not of the form namespace::operator")
        hook.add(self, name)
        self._wrapped.append(name)

    def mode(self):
        """A context in which every operator that the filters take is recorded, however it is reached; for eager
        code of one thread."""
        return _Mode(self)

    def close(self):
        """Ends the recording and closes the journal."""
        for name in self._wrapped:
            hook.remove(self, name)
        self._wrapped, self._closed = [], True
        with self._lock:
            if self._store is not None:
                self._store.close()


class _Mode(TorchDispatchMode):
    def __init__(self, recorder):
        super().__init__()
        self._recorder = recorder

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name
        return self._recorder.record(hook.unwatched(func), func._schema, name, args, kwargs or {},
                                     through_mode=True)


def install_from_environment():
    """Starts recording when VOLTCHECK_CAPTURE_DIR and VOLTCHECK_CAPTURE_OPS (names, separated by commas) are set.
    VOLTCHECK_CAPTURE_CALLS limits the calls of each operator; with VOLTCHECK_CAPTURE_SWITCH calls are recorded
    while that file is there; with VOLTCHECK_CAPTURE_GRAPHS=copy captured graphs copy their tensors, and signal
    USR2 writes a snapshot. Each process gets a folder of its own, made at its first call."""
    folder, names = os.environ.get("VOLTCHECK_CAPTURE_DIR"), os.environ.get("VOLTCHECK_CAPTURE_OPS")
    if not folder or not names:
        return None
    switch = os.environ.get("VOLTCHECK_CAPTURE_SWITCH")
    graphs = os.environ.get("VOLTCHECK_CAPTURE_GRAPHS", "note")
    record = Recorder(lambda pid: os.path.join(folder, f"process-{pid}"), on_capture=graphs,
                      max_calls=int(os.environ.get("VOLTCHECK_CAPTURE_CALLS", "64")))
    if switch:
        # A graph is captured before anybody can ask it anything: those calls are let through.
        record._enabled = lambda: os.path.exists(switch) or (graphs == "copy" and record._capturing())
    if graphs == "copy":
        signal.signal(signal.SIGUSR2, lambda _number, _frame: record._guarded("snapshot", record.snapshot))
    for name in names.split(","):
        record.wrap(name.strip())
    return record

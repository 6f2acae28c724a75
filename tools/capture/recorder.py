"""Records what goes into a torch custom operator and what comes out of it.

    import recorder

    record = recorder.Recorder("captures", include=["_C::awq_moe_*"])
    record.wrap("_C::awq_moe_active_dense_stage_sm70_out")   # calls through torch.ops, from now on
    ...                                                      # run the model
    record.close()

Inputs are on the disk before the operator runs, so that a crash inside it leaves its reproducer behind. Each
call gives NNNNNN.inputs.safetensors, NNNNNN.outputs.safetensors (what was returned and what the schema says
was written) and two lines in calls.jsonl. README.md shows it on a vLLM server.
"""

import fnmatch
import os
import threading

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from store import Store


def _capturing():
    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def _flatten(name, value, tensors, scalars):
    """Sorts one argument into tensors and what JSON can hold; lists of tensors get numbered names."""
    if isinstance(value, torch.Tensor):
        tensors[name] = value
    elif isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
        for i, v in enumerate(value):
            _flatten(f"{name}.{i}", v, tensors, scalars)
    elif value is None or isinstance(value, (bool, int, float, str)):
        scalars[name] = value
    else:
        scalars[name] = str(value)


def _bytes(tensors):
    return sum(t.numel() * t.element_size() for t in tensors.values())


class Recorder:
    """include, exclude: patterns of "namespace::operator". max_calls: of each operator. max_bytes: of everything
    written. max_call_bytes: a call with more is noted, not written. every: only each so-many-th call.

    A call while a CUDA graph is captured cannot be copied to the host. on_capture="note" writes a line and nothing
    else; "copy" makes the graph itself copy the tensors (on the device, at each replay), and `snapshot` writes
    what the latest replay left there."""

    def __init__(self, folder, include=("*",), exclude=(), max_calls=64, max_bytes=4 << 30,
                 max_call_bytes=1 << 30, every=1, on_capture="note", capturing=_capturing):
        if on_capture not in ("note", "copy"):
            raise ValueError("on_capture is 'note' or 'copy'")
        self._store = Store(folder)
        self._include, self._exclude = tuple(include), tuple(exclude)
        self._max_calls, self._max_bytes, self._max_call_bytes = max_calls, max_bytes, max_call_bytes
        self._every, self._on_capture, self._capturing = every, on_capture, capturing
        self._lock = threading.RLock()
        self._seen, self._kept, self._number, self._written = {}, {}, 0, 0
        self._graph_copies, self._wrapped = [], []

    # ---- which calls ----

    def wants(self, name):
        """Whether the filters take an operator, "namespace::operator" without its overload."""
        return (any(fnmatch.fnmatchcase(name, p) for p in self._include)
                and not any(fnmatch.fnmatchcase(name, p) for p in self._exclude))

    def _begin(self, name, tensors, scalars):
        """The number of a call that is to be written, or None. The lock is held."""
        self._seen[name] = self._seen.get(name, 0) + 1
        if (self._seen[name] - 1) % self._every or self._kept.get(name, 0) >= self._max_calls:
            return None
        size = _bytes(tensors)
        shapes = {k: [str(t.dtype).rpartition(".")[2], list(t.shape)] for k, t in tensors.items()}
        self._number += 1
        number = self._number
        if size > self._max_call_bytes or self._written + size > self._max_bytes:
            self._store.note(event="too large", call=number, op=name, bytes=size, tensors=shapes, scalars=scalars)
            return None
        self._kept[name] = self._kept.get(name, 0) + 1
        return number

    # ---- one call ----

    def record(self, function, schema, name, args, kwargs):
        """Calls `function` and writes what went in, before, and what came out, after."""
        if not self.wants(name):
            return function(*args, **kwargs)
        tensors, scalars, written = {}, {}, []
        for i, argument in enumerate(schema.arguments):
            if i < len(args):
                value = args[i]
            elif argument.name in kwargs:
                value = kwargs[argument.name]
            elif argument.has_default_value():
                value = argument.default_value
            else:
                continue
            _flatten(argument.name, value, tensors, scalars)
            if argument.alias_info is not None and argument.alias_info.is_write:
                written.append(argument.name)
        with self._lock:
            number = self._begin(name, tensors, scalars)
            if number is None:
                return function(*args, **kwargs)
            if self._capturing():
                return self._during_capture(number, function, name, args, kwargs, tensors, scalars, written)
            self._written += _bytes(tensors)
            file = self._store.save(f"{number:06d}.inputs", tensors, {"op": name, "call": number})
            self._store.note(event="before", call=number, op=name, schema=str(schema), inputs=file,
                             scalars=scalars, declared_writes=written)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            with self._lock:
                self._store.note(event="raised", call=number, op=name, error=f"{type(error).__name__}: {error}")
            raise
        self._after(number, name, self._outputs(result, tensors, written))
        return result

    @staticmethod
    def _outputs(result, tensors, written):
        outputs = {k: t for k, t in tensors.items() if k.partition(".")[0] in written}
        _flatten("returned", result, outputs, {})
        return outputs

    def _after(self, number, name, outputs):
        with self._lock:
            size = _bytes(outputs)
            if self._written + size > self._max_bytes:
                self._store.note(event="too large", call=number, op=name, bytes=size)
                return
            self._written += size
            file = self._store.save(f"{number:06d}.outputs", outputs, {"op": name, "call": number})
            self._store.note(event="after", call=number, op=name, outputs=file)

    # ---- CUDA graphs ----

    def _during_capture(self, number, function, name, args, kwargs, tensors, scalars, written):
        self._store.note(event="capturing", call=number, op=name, scalars=scalars, declared_writes=written,
                         tensors={k: [str(t.dtype).rpartition(".")[2], list(t.shape)] for k, t in tensors.items()},
                         copied=self._on_capture == "copy")
        if self._on_capture == "note":
            return function(*args, **kwargs)
        inputs = {k: t.clone() for k, t in tensors.items()}  # becomes part of the graph
        result = function(*args, **kwargs)
        outputs = {k: t.clone() for k, t in self._outputs(result, tensors, written).items()}
        self._graph_copies.append((number, name, inputs, outputs))
        return result

    def snapshot(self):
        """Writes what the latest replay left in the copies of captured calls. Call it between replays."""
        with self._lock:
            if self._graph_copies and torch.cuda.is_available():
                torch.cuda.synchronize()
            for number, name, inputs, outputs in self._graph_copies:
                self._number += 1
                replay = self._number
                size = _bytes(inputs) + _bytes(outputs)
                if self._written + size > self._max_bytes:
                    self._store.note(event="too large", call=replay, op=name, bytes=size)
                    continue
                self._written += size
                meta = {"op": name, "call": replay, "captured_call": number}
                self._store.note(event="replay", call=replay, captured_call=number, op=name,
                                 inputs=self._store.save(f"{replay:06d}.inputs", inputs, meta),
                                 outputs=self._store.save(f"{replay:06d}.outputs", outputs, meta))

    # ---- how calls are reached ----

    def wrap(self, name):
        """Puts a recording stand-in in the place of torch.ops.NAMESPACE.OPERATOR. The operator itself is looked up
        at its first call, so that a library which registers it may be loaded later."""
        namespace, _, operator = name.partition("::")
        if not operator:
            raise ValueError(f"{name!r} is not of the form namespace::operator")
        holder = getattr(torch.ops, namespace)
        setattr(holder, operator, _StandIn(self, holder, operator, name))
        self._wrapped.append((holder, operator))

    def mode(self):
        """A context in which every operator that the filters take is recorded, however it is reached; for eager
        code of one thread."""
        return _Mode(self)

    def close(self):
        """Takes the stand-ins away and closes the journal."""
        for holder, operator in self._wrapped:
            holder.__dict__.pop(operator, None)
        self._wrapped = []
        self._store.close()


class _StandIn:
    """Behaves like the operator (or one overload of it) and records its calls."""

    def __init__(self, recorder, holder, operator, name, overload=None):
        self._recorder, self._holder, self._operator = recorder, holder, operator
        self._name, self._overload, self._real = name, overload, None

    def _resolve(self):
        if self._real is None:
            stand_in = self._holder.__dict__.pop(self._operator, None)
            try:
                packet = getattr(self._holder, self._operator)
            finally:
                if stand_in is not None:
                    setattr(self._holder, self._operator, stand_in)
            self._real = packet
        return self._real

    def __getattr__(self, attribute):
        value = getattr(self._resolve(), attribute)
        if hasattr(value, "_schema") and callable(value):
            return _Overload(self._recorder, value, self._name)
        return value

    def __call__(self, *args, **kwargs):
        packet = self._resolve()
        overload = getattr(packet, packet.overloads()[0])
        return self._recorder.record(packet, overload._schema, self._name, args, kwargs)


class _Overload:
    def __init__(self, recorder, overload, name):
        self._recorder, self._overload, self._name = recorder, overload, name

    def __getattr__(self, attribute):
        return getattr(self._overload, attribute)

    def __call__(self, *args, **kwargs):
        return self._recorder.record(self._overload, self._overload._schema, self._name, args, kwargs)


class _Mode(TorchDispatchMode):
    def __init__(self, recorder):
        super().__init__()
        self._recorder = recorder

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name
        return self._recorder.record(func, func._schema, name, args, kwargs or {})


def install_from_environment():
    """Starts recording when VOLTCHECK_CAPTURE_DIR and VOLTCHECK_CAPTURE_OPS (names, separated by commas) are set;
    VOLTCHECK_CAPTURE_CALLS limits the calls of each operator. Each process gets a folder of its own."""
    folder, names = os.environ.get("VOLTCHECK_CAPTURE_DIR"), os.environ.get("VOLTCHECK_CAPTURE_OPS")
    if not folder or not names:
        return None
    record = Recorder(os.path.join(folder, f"process-{os.getpid()}"),
                      max_calls=int(os.environ.get("VOLTCHECK_CAPTURE_CALLS", "64")))
    for name in names.split(","):
        record.wrap(name.strip())
    return record

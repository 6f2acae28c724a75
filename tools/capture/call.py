"""One call of an operator: its arguments by name, and what became of them."""

import math

import torch

from store import host_bytes


def graph_is_captured():
    """Whether the current stream is being captured into a CUDA graph. (torch makes no context for the answer.)"""
    try:
        return torch.cuda.is_current_stream_capturing()
    except (AttributeError, RuntimeError):  # a torch, or a machine, without CUDA
        return False


def _plain(value):
    """A value as JSON has it; what JSON lacks (NaN, dtypes, devices) as text."""
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return str(value)


def _flatten(name, value, tensors, scalars):
    """Sorts one argument into tensors and the rest; lists with tensors get numbered names."""
    if isinstance(value, torch.Tensor):
        tensors[name] = value
    elif isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
        for i, v in enumerate(value):
            _flatten(f"{name}.{i}", v, tensors, scalars)
    else:
        scalars[name] = _plain(value)


class Call:
    """tensors, scalars: the arguments by the schema's names, defaults included. declared: the arguments that the
    schema says are written. inputs: {name: (dtype, shape, bytes)} once they are read."""

    def __init__(self, schema, name, args, kwargs):
        self.name, self.number, self.in_graph = name, None, False
        self.tensors, self.scalars, self.declared, self.inputs = {}, {}, [], {}
        for i, argument in enumerate(schema.arguments):
            if i < len(args):
                value = args[i]
            elif argument.name in kwargs:
                value = kwargs[argument.name]
            elif argument.has_default_value():
                value = argument.default_value
            else:
                continue
            _flatten(argument.name, value, self.tensors, self.scalars)
            if argument.alias_info is not None and argument.alias_info.is_write:
                self.declared.append(argument.name)

    def input_bytes(self):
        return sum(t.numel() * t.element_size() for t in self.tensors.values())

    def shapes(self):
        return {k: [str(t.dtype).rpartition(".")[2], list(t.shape)] for k, t in self.tensors.items()}

    def strides(self):
        """Of the tensors that do not lie row after row, as they are stored here."""
        return {k: list(t.stride()) for k, t in self.tensors.items() if not t.is_contiguous()}

    def is_traced(self):
        """Whether a compiler looks at the call with tensors that hold nothing."""
        return any(t.device.type == "meta" or type(t).__name__ in ("FakeTensor", "FunctionalTensor")
                   for t in self.tensors.values())

    def read_inputs(self):
        self.inputs = {name: host_bytes(name, tensor) for name, tensor in self.tensors.items()}

    def _is_declared(self, name):
        return name in self.declared or name.partition(".")[0] in self.declared

    def _split(self, before, after, returned):
        """Written arguments and returned values; and, for the journal, the arguments that changed although nobody
        said so."""
        undeclared = [n for n in before if not self._is_declared(n) and before[n][2] != after[n][2]]
        outputs = {n: after[n] for n in after if self._is_declared(n) or n in undeclared}
        return {**outputs, **returned}, {"undeclared_writes": undeclared} if undeclared else {}

    def outputs(self, result):
        """Outputs on the host, and what the journal says of them: numbers that were returned, and names of
        arguments that were written without a declaration."""
        returned, numbers = {}, {}
        if result is not None:
            _flatten("returned", result, returned, numbers)
        after = {name: host_bytes(name, tensor) for name, tensor in self.tensors.items()}
        outputs, fields = self._split(self.inputs, after, {n: host_bytes(n, t) for n, t in returned.items()})
        return outputs, {**({"scalars": numbers} if numbers else {}), **fields}

    # ---- in a CUDA graph: copies that the graph itself makes, on the device ----

    def copy_inputs(self):
        self._before = {name: tensor.clone() for name, tensor in self.tensors.items()}

    def copy_outputs(self, result):
        returned = {}
        _flatten("returned", result, returned, {})
        self._returned = {name: tensor.clone() for name, tensor in returned.items()}
        self._behind = {name: tensor.clone() for name, tensor in self.tensors.items()}
        self.tensors = {}  # the graph's business from here on

    def replayed(self):
        """Inputs, outputs and the journal's fields of the latest replay, on the host."""
        inputs, after, returned = ({n: host_bytes(n, t) for n, t in tensors.items()}
                                   for tensors in (self._before, self._behind, self._returned))
        return inputs, *self._split(inputs, after, returned)

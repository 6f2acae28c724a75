"""Lets recorders see the calls of an operator of torch.ops, however its caller got hold of it.

The operator object and its overloads stay what they are; only their class becomes one whose call goes to the
recorders first. So whoever took a reference earlier is seen too, and `isinstance`, equality and the dispatcher's own
references hold. An operator that no library has registered yet is missing as ever (`hasattr(torch.ops._C, ...)`);
its namespace is watched until it is there.
"""

import torch

_RECORDERS = {}  # "namespace::operator" -> recorders, the first one nearest to the operator
_CLASSES = {}  # class of torch -> its watched class


def _through(recorders, function, schema, name, args, kwargs):
    """Calls `function` inside each recorder's record."""
    if not recorders:
        return function(*args, **kwargs)
    inner = lambda *a, **k: _through(recorders[:-1], function, schema, name, a, k)
    return recorders[-1].record(inner, schema, name, args, kwargs)


def _overload_methods(kind):
    """What the watched class of one overload has that `kind` has not."""
    def call(self, /, *args, **kwargs):
        name = self._schema.name
        return _through(_RECORDERS.get(name, []), lambda *a, **k: kind.__call__(self, *a, **k), self._schema, name,
                        args, kwargs)
    return {"__call__": call}


def _packet_methods(kind):
    """Of an operator, which holds its overloads."""
    def call(self, /, *args, **kwargs):
        name = self._qualified_op_name
        return _through(_RECORDERS.get(name, []), lambda *a, **k: kind.__call__(self, *a, **k),
                        schema_of_call(self, args, kwargs), name, args, kwargs)
    return {"__call__": call}


def _namespace_methods(kind):
    """Of a namespace, which looks operators up when they are first asked for."""
    def look_up(self, operator):
        found = kind.__getattr__(self, operator)  # or AttributeError
        if f"{self.name}::{operator}" in _RECORDERS:
            _watch_operator(found)
        return found
    return {"__getattr__": look_up}


def _watch(thing, methods):
    """Gives one object a class of its own kind with other methods. (A subclass with this one base: its objects
    have the same layout, which Python asks for.)"""
    kind = type(thing)
    if kind not in _CLASSES.values():
        if kind not in _CLASSES:
            _CLASSES[kind] = type(kind.__name__, (kind,), {"__module__": kind.__module__, **methods(kind)})
        thing.__class__ = _CLASSES[kind]


def _watch_operator(packet):
    _watch(packet, _packet_methods)
    for overload in packet.overloads():
        _watch(getattr(packet, overload), _overload_methods)


def add(recorder, name):
    """From now on `recorder.record` sees the calls of an operator, "namespace::operator"."""
    namespace, _, operator = name.partition("::")
    _RECORDERS.setdefault(name, []).append(recorder)
    holder = getattr(torch.ops, namespace)
    _watch(holder, _namespace_methods)
    if operator in holder.__dict__:  # looked up before
        _watch_operator(holder.__dict__[operator])


def remove(recorder, name):
    _RECORDERS[name].remove(recorder)


def unwatched(overload):
    """The call of an overload past all recorders."""
    if type(overload) in _CLASSES.values():
        kind = type(overload).__mro__[1]
        return lambda *a, **k: kind.__call__(overload, *a, **k)
    return overload


def _takes(argument, value):
    """Whether an argument of a schema may be this value, as far as tensors go."""
    kind = str(argument.type)
    if isinstance(value, torch.Tensor):
        return "Tensor" in kind or kind == "number"
    return kind != "Tensor"


def schema_of_call(packet, args, kwargs):
    """The schema of the overload that these arguments fit; the first one where several do or none does."""
    schemas = [getattr(packet, overload)._schema for overload in packet.overloads()]
    for schema in schemas:
        by_name = {a.name: a for a in schema.arguments}
        positional = [a for a in schema.arguments if not a.kwarg_only]
        given = list(zip(positional, args)) + [(by_name[k], v) for k, v in kwargs.items() if k in by_name]
        missing = {a.name for a in schema.arguments if not a.has_default_value()} - {a.name for a, _ in given}
        if (len(args) <= len(positional) and len(given) == len(args) + len(kwargs) and not missing
                and all(_takes(a, v) for a, v in given)):
            return schema
    return schemas[0]

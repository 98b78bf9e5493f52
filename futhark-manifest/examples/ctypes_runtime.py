# This part is the same for every program. The rest names its C functions, types and fields.

import contextlib
import ctypes
import math
import os
import reprlib
import struct
import threading
import zlib
from collections import deque
from ctypes import byref, c_bool, c_char_p, c_double, c_float, c_int, c_size_t, c_void_p
from ctypes import c_int8, c_int16, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64


class FutharkError(Exception):
    """A call failed or is not possible. The text is the message of the C library, if there is one."""


class _Scalar:
    """A scalar type. Values are passed as bytes, so an f16 is a float in Python and its bits in C."""

    def __init__(self, name, code, c_type):
        self.name, self.code, self.slot, self.size = name, code, c_type, ctypes.sizeof(c_type)

    def pack(self, values):
        try:
            return struct.pack(f"={len(values)}{self.code}", *values)
        except (struct.error, OverflowError):
            raise ValueError(f"expected values of type {self.name}, got {reprlib.repr(values)}") from None

    def unpack(self, data):
        return list(struct.unpack(f"={len(data) // self.size}{self.code}", data))

    def argument(self, ctx, value):
        return self.slot.from_buffer_copy(self.pack([value]))

    def take(self, ctx, slot):
        return self.unpack(bytes(slot))[0]


I8, I16, I32 = _Scalar("i8", "b", c_int8), _Scalar("i16", "h", c_int16), _Scalar("i32", "i", c_int32)
U8, U16, U32 = _Scalar("u8", "B", c_uint8), _Scalar("u16", "H", c_uint16), _Scalar("u32", "I", c_uint32)
I64, U64, BOOL = _Scalar("i64", "q", c_int64), _Scalar("u64", "Q", c_uint64), _Scalar("bool", "?", c_bool)
F16, F32, F64 = _Scalar("f16", "e", c_uint16), _Scalar("f32", "f", c_float), _Scalar("f64", "d", c_double)


# The return types of C functions. Shapes and variants cannot fail.
class _Status(c_int):
    failed = property(lambda self: self.value != 0)


class _Handle(c_void_p):
    failed = property(lambda self: self.value is None)


class _Text(c_void_p):
    """A text that the caller must free, or NULL."""


_Shape, _Variant = ctypes.POINTER(c_int64), c_int

# The functions that every library has and that manifests do not list: results and parameters.
_LIBRARY = {
    "futhark_context_config_new": (c_void_p,),
    "futhark_context_config_free": (None, c_void_p),
    "futhark_context_new": (c_void_p, c_void_p),
    "futhark_context_free": (None, c_void_p),
    "futhark_context_sync": (c_int, c_void_p),
    "futhark_context_get_error": (_Text, c_void_p),
    "futhark_context_report": (_Text, c_void_p),
    "free": (None, c_void_p),
}


class Program(contextlib.AbstractContextManager):
    """A loaded program with its context, for use in a `with` statement.

    A setting such as num_threads=4 calls futhark_context_config_set_num_threads. Threads may share a
    context, except on cuda and hip, where only the thread that created it can use its device."""

    def __init__(self, path, **settings):
        self._context, self._config, self._process = None, None, os.getpid()
        # The library's own lock covers single C functions. Reentrant, because operations call others.
        self._lock, self._live, self._garbage = threading.RLock(), {}, deque()
        # Symbols are bound locally, because other programs have the same ones.
        self._c = ctypes.CDLL(os.path.abspath(path))
        missing = [name for name in self.FUNCTIONS if not hasattr(self._c, name)]
        if missing:
            raise FutharkError(f"not the library of this program: it has no {missing[0]}")
        for name, (result, *parameters) in {**_LIBRARY, **self.FUNCTIONS}.items():
            function = getattr(self._c, name)
            function.restype, function.argtypes = result, parameters
        setters = {"futhark_context_config_set_" + name: value for name, value in settings.items()}
        unknown = [setter for setter in setters if not hasattr(self._c, setter)]
        if unknown:
            raise TypeError(f"unknown setting: the library has no function {unknown[0]}")
        self._config = self._c.futhark_context_config_new()
        for setter, value in setters.items():
            # The settings with one value, which is a number or a text.
            value = c_char_p(value.encode()) if isinstance(value, str) else c_int(value)
            getattr(self._c, setter)(c_void_p(self._config), value)
        self._context = self._c.futhark_context_new(self._config)
        error = self._errors() if self._context else "no memory for a context"
        if error:
            self.close()
            raise FutharkError(error)

    def _errors(self):
        """All pending errors. An error that is not fetched would fail the next allocation."""
        texts = []
        while text := self._text("futhark_context_get_error"):
            texts.append(text)
        return "".join(texts)

    def _text(self, function):
        """The text that a C function returns, which the caller must free, or None."""
        text = getattr(self._c, function)(self._context)
        if text:
            try:
                return ctypes.string_at(text.value).decode(errors="replace")
            finally:
                self._c.free(text)

    def report(self):
        """The profiling report, as JSON."""
        self._check()
        with self._lock:
            self._check()
            text = self._text("futhark_context_report")
            error = self._errors()
            if error or text is None:
                raise FutharkError(error or "futhark_context_report failed without a message")
            return text

    def _check(self):
        if not self._context or os.getpid() != self._process:
            raise FutharkError("the context is closed or belongs to another process")

    def _call(self, function, outputs, *arguments):
        """Calls a C function and waits. Returns a value of each type in `outputs`, or a shape or variant."""
        self._check()
        with self._lock:
            self._check()
            while self._garbage:
                self._free(self._garbage.popleft())
            slots = [ty.slot() for ty in outputs]
            given = [] if self.FUNCTIONS[function][0] is _Handle else map(byref, slots)
            # `arguments` itself keeps the values alive until the end.
            handles = [a.handle(self) if isinstance(a, Value) else a for a in arguments]
            result = getattr(self._c, function)(self._context, *given, *handles)
            # On GPUs, the call may use its buffers until the sync, and errors are reported there.
            unfinished = self._c.futhark_context_sync(self._context)
            slots = [result] if isinstance(result, _Handle) else slots
            values = tuple(ty.take(self, slot) for ty, slot in zip(outputs, slots))
            # Also after success: the copy after a failed allocation can hide its error.
            error = self._errors()
            if error or unfinished or getattr(result, "failed", False):
                raise FutharkError(error or f"{function} failed without a message")
            return values if isinstance(result, (_Status, _Handle)) else result

    def _free(self, handle):
        free = self._live.pop(handle, None)
        if free and getattr(self._c, free)(self._context, handle).failed:
            self._errors()

    def close(self):
        """Frees the remaining values, then the context, then its configuration."""
        if os.getpid() != self._process:
            return  # A forked child must not use the context of its parent.
        with self._lock:
            for handle in list(self._live):
                self._free(handle)
            if self._context:
                self._c.futhark_context_sync(self._context)
                self._c.futhark_context_free(self._context)
            if self._config:
                self._c.futhark_context_config_free(self._config)
            self._context = self._config = None

    def __exit__(self, *_):
        self.close()

    __del__ = close


class Value:
    """A value in the memory of a program. It keeps its context alive and is freed with its last reference."""

    slot, ctx, _handle = _Handle, None, None

    @classmethod
    def take(cls, ctx, slot):
        value = object.__new__(cls)
        value.ctx, value._handle = ctx, slot.value
        if slot.value:
            ctx._live[slot.value] = cls.OPERATIONS["free"]
        return value

    @classmethod
    def argument(cls, ctx, value):
        if not isinstance(value, cls):
            raise TypeError(f"expected {cls.__name__}, got {type(value).__name__}")
        return value

    @classmethod
    def _operation(cls, name):
        if name not in cls.OPERATIONS:
            raise FutharkError(f"the compiler generated no function {name} for {cls.NAME}")
        return cls.OPERATIONS[name]

    def handle(self, ctx):
        if self.ctx is not ctx:
            raise ValueError("the value belongs to another context")
        if not self._handle:
            raise ValueError("the value has been freed")
        return self._handle

    def _do(self, operation, outputs, *arguments):
        return self.ctx._call(self._operation(operation), outputs, self, *arguments)

    def free(self):
        with self.ctx._lock:
            self.ctx._free(self._handle)
            self._handle = None

    def __del__(self):
        # This can run during a call, so the next call frees the value.
        if self._handle:
            self.ctx._garbage.append(self._handle)


class Opaque(Value):
    def store(self):
        """The value as bytes, for `restore`."""
        size = c_size_t()
        with self.ctx._lock:
            self._do("store", [], None, byref(size))
            data = ctypes.create_string_buffer(size.value)
            self._do("store", [], byref(c_void_p(ctypes.addressof(data))), byref(size))
        return self._label(self.ctx, data.raw) + data.raw

    @classmethod
    def restore(cls, ctx, data):
        size = len(cls._label(ctx, b""))
        if data[:size] != cls._label(ctx, data[size:]):
            raise ValueError(f"not the bytes of a {cls.NAME} of this program")
        return ctx._call(cls._operation("restore"), [cls], data[size:])[0]

    @classmethod
    def _label(cls, ctx, data):
        # The C function gets no length and checks little, so it must not get other bytes.
        return f"{ctx.INTERFACE} {cls.NAME} {zlib.crc32(data):08x} ".encode()

    def copy(self):
        return self.restore(self.ctx, self.store())


class Tuple(Opaque):
    @classmethod
    def argument(cls, ctx, value):
        """Accepts a Python tuple too."""
        return cls(ctx, *value) if isinstance(value, tuple) else super().argument(ctx, value)


class Sum(Opaque):
    def match(self):
        """The name of the variant, and a tuple: its payload."""
        name, destruct, payload = self.VARIANTS[self._do("variant", [])]
        return name, self.ctx._call(destruct, payload, self)


class _Shaped(Value):
    @property
    def shape(self):
        with self.ctx._lock:  # The pointer is valid as long as the value.
            return tuple(self._do("shape", [])[: self.RANK])

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        return self._do("index", [self.ELEMENT], *self._place(index))[0]

    def _place(self, index):
        index, shape = index if isinstance(index, tuple) else (index,), self.shape
        if len(index) != self.RANK:
            raise TypeError(f"expected {self.RANK} indices, got {len(index)}")
        if not all(0 <= i < n for i, n in zip(index, shape)):
            raise IndexError(f"{index} is out of bounds for the shape {shape}")
        return [I64.argument(self.ctx, i) for i in index]

    @classmethod
    def _flat(cls, ctx, rows, shape):
        """The elements in row-major order, and the dimensions, which the C function would not check."""
        rows, known = list(rows), shape is not None
        shape = list(shape) if known else [len(rows)]
        while not known and len(shape) < cls.RANK:
            shape.append(len(rows[0]) if rows else 0)
            if any(len(row) != shape[-1] for row in rows):
                raise ValueError("the rows have different lengths")
            rows = [element for row in rows for element in row]
        if len(shape) != cls.RANK or min(shape) < 0 or math.prod(shape) != len(rows):
            raise ValueError(f"{len(rows)} elements do not have the shape {shape} of rank {cls.RANK}")
        return rows, [I64.argument(ctx, length) for length in shape]


class Array(_Shaped):
    @classmethod
    def from_values(cls, ctx, values, shape=None):
        """Creates an array from a flat sequence with a shape, or from nested sequences."""
        values, shape = cls._flat(ctx, values, shape)
        return ctx._call(cls._operation("new"), [cls], cls.ELEMENT.pack(values), *shape)[0]

    def values(self):
        """The elements in row-major order."""
        return self.ELEMENT.unpack(self._data())

    def _data(self):
        with self.ctx._lock:
            data = ctypes.create_string_buffer(math.prod(self.shape) * self.ELEMENT.size)
            self._do("values", [], data)
        return data.raw

    def copy(self):
        with self.ctx._lock:
            return self.ctx._call(self._operation("new"), [type(self)], self._data(), *self.shape)[0]


class OpaqueArray(_Shaped, Opaque):
    @classmethod
    def from_elements(cls, ctx, elements, shape=None):
        """Creates an array as `Array.from_values` does; from compiler 0.25.36 on."""
        elements, shape = cls._flat(ctx, elements, shape)
        elements = [cls.ELEMENT.argument(ctx, element) for element in elements]
        with ctx._lock:
            handles = (c_void_p * len(elements))(*[element.handle(ctx) for element in elements])
            return ctx._call(cls._operation("new"), [cls], handles, *shape)[0]

    def replaced(self, index, element):
        """A copy with another element at the index; from compiler 0.25.36 on."""
        # A copy, because other values may share the memory of this one.
        copy = self.copy()
        copy._do("set", [], self.ELEMENT.argument(self.ctx, element), *self._place(index))
        return copy

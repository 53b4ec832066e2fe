# SPDX-License-Identifier: Apache-2.0
"""Wick for Python, from its table of ops alone: names, parameters, defaults and results come from wk_op_info and
wk_op_parameter, and every call is one of wk_call. No op is named here, but for the operators of Python. The symbols
beside these two and wk_call are those of lifetimes, of data in and out (DLPack) and of errors.

    import wick
    x = wick.tensor([[1.0, 2.0], [3.0, 4.0]])
    wick.softmax(x, dim=1).tolist()
    x.requires_grad_(); (x * x).sum().backward(); x.grad_of().tolist()

WICK_LIBRARY is the path of libwick.so."""

import collections
import ctypes as c
import os
import struct
import sys

_lib = c.CDLL(os.environ.get("WICK_LIBRARY", "libwick.so"))

# ---- the structs of wick/call.h and wick/dlpack.h --------------------------------------------------------------------

NONE, TENSOR, INT, FLOAT, BOOL, INTS, TENSORS, DTYPE, DEVICE, TEXT = range(10)


class _Site(c.Structure):
    _fields_ = [("file", c.c_char_p), ("line", c.c_int32), ("reserved", c.c_char * 4)]


class Device(c.Structure):
    """Of a kind, and of them the index-th."""

    _fields_ = [("kind", c.c_int16), ("index", c.c_int16), ("reserved", c.c_int32)]


class _Union(c.Union):
    _fields_ = [
        ("tensor", c.c_void_p),
        ("i", c.c_int64),
        ("f", c.c_double),
        ("ints", c.POINTER(c.c_int64)),
        ("tensors", c.POINTER(c.c_void_p)),
        ("device", Device),
        ("text", c.c_char_p),
    ]


class _Value(c.Structure):
    _anonymous_ = ["of"]
    _fields_ = [("kind", c.c_int32), ("count", c.c_int32), ("of", _Union)]


class _Op(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("name", c.c_char_p),
        ("schema", c.c_char_p),
        ("category", c.c_char_p),
        ("doc", c.c_char_p),
        ("differentiable", c.c_bool),
        ("data_dependent_shape", c.c_bool),
        ("dtypes", c.c_uint32),
        ("parameters", c.c_int32),
        ("results", c.c_int32),
        ("result_names", c.POINTER(c.c_char_p)),
        ("in_place", c.c_bool),
        ("view", c.c_bool),
        ("reserved", c.c_char * 6),
    ]


class _Parameter(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("name", c.c_char_p),
        ("doc", c.c_char_p),
        ("kind", c.c_int32),
        ("optional", c.c_bool),
        ("keyword_only", c.c_bool),
        ("accepts_scalar", c.c_bool),
        ("mutated", c.c_bool),
        ("default_value", _Value),
        ("choices", c.POINTER(c.c_char_p)),
    ]


class _Error(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("code", c.c_int32),
        ("line", c.c_int32),
        ("file", c.c_char * 256),
        ("message", c.c_char * 1024),
        ("results", c.c_int32),
        ("reserved", c.c_char * 4),
    ]


class _Options(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("by_name", c.c_void_p),
        ("device", Device),
        ("no_grad", c.c_bool),
        ("site", _Site),
        ("error", c.POINTER(_Error)),
    ]


class _Tensor(c.Structure):
    _fields_ = [
        ("data", c.c_void_p),
        ("device", c.c_int32 * 2),
        ("ndim", c.c_int32),
        ("kind", c.c_uint8),
        ("bits", c.c_uint8),
        ("lanes", c.c_uint16),
        ("shape", c.POINTER(c.c_int64)),
        ("stride", c.POINTER(c.c_int64)),
        ("byte_offset", c.c_uint64),
    ]


class _Managed(c.Structure):
    pass


_Deleter = c.CFUNCTYPE(None, c.POINTER(_Managed))
_Managed._fields_ = [
    ("version", c.c_uint32 * 2),
    ("context", c.c_void_p),
    ("deleter", _Deleter),
    ("flags", c.c_uint64),
    ("tensor", _Tensor),
]

_lib.wk_op_info_at.argtypes = [_Site, c.c_int, c.POINTER(_Op)]
_lib.wk_op_parameter_at.argtypes = [_Site, c.c_int, c.c_int, c.POINTER(_Parameter)]
_lib.wk_call.argtypes = [
    *(c.c_void_p, c.c_char_p, c.POINTER(_Value), c.c_int, c.POINTER(_Value), c.POINTER(c.c_int)),
    *(c.POINTER(_Options), c.c_char_p, c.c_size_t),
]
_lib.wk_free_at.argtypes = [_Site, c.c_void_p]
_lib.wk_to_dlpack_at.argtypes = [_Site, c.c_void_p]
_lib.wk_to_dlpack_at.restype = c.POINTER(_Managed)
_lib.wk_from_dlpack_at.argtypes = [_Site, c.POINTER(_Managed)]
_lib.wk_from_dlpack_at.restype = c.c_void_p
_lib.wk_error.restype = c.c_char_p

# The dtypes of wick/core.h: value, name, DLPack's kind and bits, Python's code in struct.
DType = collections.namedtuple("DType", "value name kind bits code")
_DTYPES = [
    *((1, "f32", 2, 32, "f"), (2, "f64", 2, 64, "d"), (3, "f16", 2, 16, "e"), (4, "bf16", 4, 16, "")),
    *((5, "i8", 0, 8, "b"), (6, "u8", 1, 8, "B"), (7, "i16", 0, 16, "h"), (8, "i32", 0, 32, "i")),
    *((9, "i64", 0, 64, "q"), (10, "bool", 6, 8, "?")),
]
DTYPES = {row[1]: DType(*row) for row in _DTYPES}


class Error(RuntimeError):
    """What the library says of a call that failed; code is its wk_code, file and line are where it was written."""

    def __init__(self, message, code=0, file="", line=0):
        super().__init__(message)
        self.code, self.file, self.line = code, file, line


_files = {}  # their names live as long as what is made in them: an error may come late


def _here():
    """Where the program is that calls this module."""
    frame = sys._getframe(1)
    while frame.f_globals is globals() and frame.f_back:
        frame = frame.f_back
    name = frame.f_code.co_filename
    return _Site(_files.setdefault(name, name.encode()), frame.f_lineno)


def _checked(handle):
    """What a call gives that leaves its error to the thread."""
    if handle:
        return handle
    text = _lib.wk_error()
    _lib.wk_clear_error()
    raise Error(text.decode() if text else "NULL")


# ---- tensors ---------------------------------------------------------------------------------------------------------


class Tensor:
    """A tensor. Its methods are the ops of the table whose first argument it is."""

    __slots__ = ("handle", "__weakref__")

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        _lib.wk_free_at(_Site(), self.handle)

    def __getattr__(self, name):
        op = OPS.get(name)
        if not op or op.parameters[0].kind != TENSOR:
            raise AttributeError(name)
        return lambda *args, **named: op(self, *args, **named)

    def _exported(self, read):
        """What read(tensor) makes of it as DLPack has it."""
        here = self.detach().to(Device(1, 0))
        managed = _checked(_lib.wk_to_dlpack_at(_here(), here.handle))
        try:
            return read(managed.contents.tensor)
        finally:
            managed.contents.deleter(managed)

    @property
    def shape(self):
        return self._exported(lambda t: tuple(t.shape[d] for d in range(t.ndim)))

    @property
    def dtype(self):
        def read(t):
            return next(d for d in DTYPES.values() if (d.kind, d.bits) == (t.kind, t.bits))

        return self._exported(read)

    def tolist(self):
        """Its numbers: lists of lists, or one number where it has no dimensions."""
        if self.dtype.name == "bf16":
            return self.to_dtype(DTYPES["f32"]).tolist()
        code = self.dtype.code

        def read(t):
            size, at = t.bits // 8, (t.data or 0) + t.byte_offset

            def part(d, place):
                if d == t.ndim:
                    return struct.unpack(code, c.string_at(place, size))[0]
                return [part(d + 1, place + k * t.stride[d] * size) for k in range(t.shape[d])]

            return part(0, at)

        return self._exported(read)

    def __repr__(self):
        return f"wick.tensor({self.tolist()}, dtype=wick.{self.dtype.name})"


_lent = {}  # structs and memory that the library has, by address


@_Deleter
def _returned(managed):
    del _lent[c.addressof(managed.contents)]


def tensor(values, dtype=None):
    """A tensor of a number, or of lists of lists of numbers."""
    shape, flat = [], [values]
    while flat and isinstance(flat[0], (list, tuple)):
        shape.append(len(flat[0]))
        if any(len(row) != shape[-1] for row in flat):
            raise ValueError("rows of different lengths")
        flat = [x for row in flat for x in row]
    if values == []:
        shape, flat = [0], []
    kinds = {type(x) for x in flat}
    own = DTYPES["bool" if kinds == {bool} else "i64" if kinds and kinds <= {int, bool} else "f32"]
    made = DTYPES["f64"] if dtype and own.name != "i64" else own
    data = (c.c_char * (len(flat) * made.bits // 8 or 1))()
    view = memoryview(data).cast("B").cast(made.code) if flat else []
    for k, x in enumerate(flat):
        view[k] = x
    managed = _Managed((1, 0), None, _returned, 0)
    sizes = (c.c_int64 * max(len(shape), 1))(*shape)
    managed.tensor = _Tensor(c.addressof(data), (1, 0), len(shape), made.kind, made.bits, 1, sizes, None, 0)
    _lent[c.addressof(managed)] = (managed, data, sizes)
    try:
        out = Tensor(_checked(_lib.wk_from_dlpack_at(_here(), c.byref(managed))))
    except Error:
        del _lent[c.addressof(managed)]
        raise
    out = out.clone()
    return out.to_dtype(dtype) if dtype and dtype is not made else out


# ---- ops -------------------------------------------------------------------------------------------------------------


def _number(x, value):
    if isinstance(x, bool):
        value.kind, value.i = BOOL, x
    elif isinstance(x, int):
        value.kind, value.i = INT, x
    else:
        value.kind, value.f = FLOAT, float(x)


def _fill(value, kind, x, kept):
    """*value of what Python has; `kept` lives as long as the call."""
    value.kind = NONE if x is None else kind
    if x is None:
        return
    if isinstance(x, Tensor):
        value.kind, value.tensor = TENSOR, x.handle
    elif isinstance(x, DType):
        value.kind, value.i = DTYPE, x.value
    elif isinstance(x, Device):
        value.kind, value.device = DEVICE, x
    elif isinstance(x, str):
        kept.append(x.encode())
        value.kind, value.text = TEXT, kept[-1]
    elif isinstance(x, (list, tuple)):
        of_tensors = kind == TENSORS
        numbers = [y and y.handle for y in x] if of_tensors else x
        kept.append(((c.c_void_p if of_tensors else c.c_int64) * max(len(x), 1))(*numbers))
        value.count = len(x)
        member = ("tensors", c.POINTER(c.c_void_p)) if of_tensors else ("ints", c.POINTER(c.c_int64))
        setattr(value, member[0], c.cast(kept[-1], member[1]))
    else:
        _number(x, value)


class Op:
    """One of the table."""

    def __init__(self, index):
        info = _Op(c.sizeof(_Op))
        _lib.wk_op_info_at(_Site(), index, info)
        self.name, self.category, self.__doc__ = (x.decode() for x in (info.name, info.category, info.schema))
        self.called, self.results, self.in_place = info.name, info.results, info.in_place
        self.parameters = [_Parameter(c.sizeof(_Parameter)) for _ in range(info.parameters)]
        for k, p in enumerate(self.parameters):
            _lib.wk_op_parameter_at(_Site(), index, k, p)
        self.places = {p.name.decode(): k for k, p in enumerate(self.parameters)}
        self.positional = sum(not p.keyword_only for p in self.parameters)

    def form_in_place(self):
        other = object.__new__(Op)
        other.__dict__.update(self.__dict__, called=self.called + b"_")
        return other

    def __call__(self, /, *args, **named):
        if len(args) > self.positional:
            raise TypeError(f"{self.name} takes {self.positional} arguments without a name: {self.__doc__}")
        kept, values = [], (_Value * max(len(self.parameters), 1))()
        given = dict(enumerate(args))
        for name, x in named.items():
            if name not in self.places or self.places[name] in given:
                raise TypeError(f"{self.name}: {name} is no argument, or given twice: {self.__doc__}")
            given[self.places[name]] = x
        for k, x in given.items():
            _fill(values[k], self.parameters[k].kind, x, kept)
        return self._run(values, max(self.results, 8))

    def _run(self, values, room):
        error, out, count = _Error(c.sizeof(_Error)), (_Value * room)(), c.c_int(room)
        options = _Options(c.sizeof(_Options), None, Device(), False, _here(), c.pointer(error))
        if _lib.wk_call(None, self.called, values, len(self.parameters), out, count, options, None, 0):
            if error.results > room:
                return self._run(values, error.results)
            raise Error(error.message.decode(), error.code, error.file.decode(), error.line)
        given = tuple(Tensor(out[k].tensor) if out[k].kind == TENSOR else None for k in range(count.value))
        return given if self.results < 0 or self.results > 1 else given[0] if given else None


OPS = {}
for _index in range(_lib.wk_op_count()):
    _op = Op(_index)
    OPS[_op.name] = _op
    if _op.in_place:
        OPS[_op.name + "_"] = _op.form_in_place()


def __getattr__(name):
    """The ops and dtypes are the module's: wick.softmax, wick.f64."""
    if name in OPS or name in DTYPES:
        return OPS.get(name) or DTYPES[name]
    raise AttributeError(f"wick has no {name}")


for _symbol, _name in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "matmul": "matmul"}.items():
    setattr(Tensor, f"__{_symbol}__", lambda a, b, op=OPS[_name]: op(a, b))
    setattr(Tensor, f"__r{_symbol}__", lambda a, b, op=OPS[_name]: op(b, a))

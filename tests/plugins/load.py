# SPDX-License-Identifier: Apache-2.0
# load.py LIBRARY: an interpreter loads the library while it runs, and computes with it.
import ctypes
import sys

CPU, F32 = 1, 1


class Site(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("line", ctypes.c_int32)]


wick = ctypes.CDLL(sys.argv[1])
wick.wk_from_at.restype = ctypes.c_void_p
wick.wk_from_at.argtypes = [Site, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int]
wick.wk_item_at.restype = ctypes.c_double
wick.wk_item_at.argtypes = [Site, ctypes.c_void_p]
wick.wk_error.restype = ctypes.c_char_p
assert wick.wk_device_count(CPU) == 1

here = Site(b"load.py", 1)
shape = (ctypes.c_int64 * 1)(1)
x = wick.wk_from_at(here, F32, (ctypes.c_float * 1)(42), 4, shape, 1)
assert wick.wk_error() is None, wick.wk_error()
assert wick.wk_item_at(here, x) == 42

"""Calls the program of ways.fut through futhark-ffi, in the folder where `build_futhark_ffi` has put it.

Reads lines "COMPUTATION SIZE REPETITIONS" and answers with the nanoseconds of all repetitions.
"""

import sys
import time

import numpy
from futhark_ffi import Futhark

sys.path.insert(0, ".")
import _ways_py  # noqa: E402

program = Futhark(_ways_py)


def scalar(_):
    assert program.add(1, 2) == 3
    return lambda: program.add(1, 2)


def array(size):
    xs = numpy.arange(size, dtype=numpy.float32)

    def call():
        return program.from_futhark(program.double(xs))

    assert (call() == 2 * xs).all()
    return call


def bodies(size):
    assert program.bodies(size, 10)
    return lambda: program.bodies(size, 10)


computations = {"scalar": scalar, "array": array, "bodies": bodies}
for line in sys.stdin:
    name, size, repetitions = line.split()
    call = computations[name](int(size))
    start = time.perf_counter_ns()
    for _ in range(int(repetitions)):
        call()
    print(time.perf_counter_ns() - start, flush=True)

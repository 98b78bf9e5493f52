"""A client of the package futhark-ffi, for failures.fut: python3 ffi.py MODULE [CASE], as the clients in C (client.h)."""

import importlib
import resource
import sys
import threading

import numpy as np
from futhark_ffi import Futhark

sys.path.insert(0, ".")
module = importlib.import_module(sys.argv[1])
is_multicore = hasattr(module.lib, "futhark_context_config_set_num_threads")
cases = {}


def case(expectation):
    return lambda function: cases.setdefault(function.__name__, (expectation, function))


def four():
    return np.arange(1, 5, dtype=np.int32)


def error_of(call, *arguments):
    try:
        call(*arguments)
    except (RuntimeError, ValueError) as error:
        return str(error)
    raise AssertionError("expected an error")


def equal(f, value, expected):
    got = f.from_futhark(value)
    assert got.tolist() == np.asarray(expected).tolist(), got


def usable(f):
    equal(f, f.joined(1, 2), [7, 8, 8])


@case("both")
def arrays(f):
    equal(f, f.negative_size(3, 7), [7, 7, 7])
    equal(f, f.huge_size_2d(2, 3), [[0, 0, 0], [0, 1, 2]])
    equal(f, f.backwards(np.arange(8, dtype=np.int64)[::2], 3, 0), [6, 4, 2])
    equal(f, f.make(0, 3), np.zeros((0, 3)))
    assert f.at_index(four(), 2, 2, 1, 0) == 3 and f.divide(7, 2) == 3
    a, b = f.swap(four(), np.zeros(1))
    equal(f, a, [0])
    equal(f, b, four())


@case("both")
def opaque_values(f):
    stored = bytes(f.store_slot(f.fill_slot(four())))
    slot = f.restore_slot(stored)
    assert bytes(f.store_slot(slot)) == stored and f.lib.futhark_variant_opaque_slot(f.ctx, slot) == 1


@case("both")
def errors(f):
    for _ in range(100):
        assert "Index [9] out of bounds for array of shape [4]" in error_of(f.gather, four(), np.array([9]))
        assert "invalid size" in error_of(f.given, 3, four())
    usable(f)


@case("both")
def values_alive_at_exit(f):
    global kept
    kept = [f.negative_size(2, 5), f.make(1, 1), Futhark(module).negative_size(1, 1)]


@case("unsafe")
def threads(f):
    def work(i):
        for _ in range(200):
            equal(f, f.negative_size(3, i), [i] * 3)
            assert f"[{4 + i}]" in error_of(f.gather, four(), np.array([4 + i]))
        done.append(i)

    done = []
    workers = [threading.Thread(target=work, args=[i]) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(done) == [0, 1, 2, 3], done


def kills(name, *calls):
    """The entry point fails with these arguments. Then the context is usable, or says that it is lost."""

    def run(f):
        for arguments in calls:
            assert error_of(getattr(f, name), *arguments)
            try:
                usable(f)
            except ValueError:
                f = Futhark(module)
        usable(Futhark(module))

    cases[f"kills_{name}"] = ("hardened", run)


kills("negative_size", (-5, 7), (-(2**63), 7))
kills("make", (-5, -3))
kills("huge_size", (2**61, 7), (2**62, 7))
kills("huge_size_2d", (2**32, 2**32))
kills("out_of_memory", (2**46, 7))
kills("divide", (-(2**63), -1))
kills("sizes_in_function", (4000, 3999, -5), (4000, 0, 2**46))


@case("hardened" if is_multicore else "both")
def parallel_failure(f):
    indices = np.zeros(20000, dtype=np.int64)
    indices[-1] = 4
    for _ in range(3):
        assert "out of bounds" in error_of(f.gather, four(), indices)
        equal(f, f.gather(four(), indices % 4), np.ones(20000))


@case("hardened")
def alias_consumed(f):
    xs = f.negative_size(4, 1)
    slot = f.fill_slot(xs)
    stored = bytes(f.store_slot(slot))
    equal(f, f.add(xs, four()), [2, 3, 4, 5])
    assert bytes(f.store_slot(slot)) == stored
    assert "consumed" in error_of(f.add, xs, four()) and error_of(f.from_futhark, xs)


@case("hardened")
def failed_new(f):
    xs = f.lib.futhark_new_i32_1d(f.ctx, f.ffi.new("int32_t[]", 2), -1)
    # The first error is the cause, and futhark-ffi frees NULL.
    assert "negative" in error_of(f.gather, f.ffi.gc(xs, lambda x: f.lib.futhark_free_i32_1d(f.ctx, x)), four())


resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
if len(sys.argv) < 3:
    for name, (expectation, _) in cases.items():
        print(expectation, name)
else:
    try:
        cases[sys.argv[2]][1](Futhark(module))
    except Exception as error:
        sys.exit(print(f"failed: {error!r}") or 1)

"""Tests the generated module of programs/bridges/everything.fut with the compiled library.

    python3 drive.py MODULE LIBRARY

The expected values were derived by hand from programs/bridges/everything.fut.
"""

import ctypes
import gc
import importlib.util
import json
import sys
import threading


def main(module_path, library):
    spec = importlib.util.spec_from_file_location("everything", module_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.Context(library, debugging=0) as ctx:
        for part in (scalars, arrays, records, tuples, sums, arrays_of_them, storing, consumption, errors, names, memory):
            part(module, ctx)
    closing(module, library)


def expect(value, expected):
    assert value == expected, f"expected {expected!r}, got {value!r}"


def refused(error, call, *arguments):
    """The first line of the error of a call, which must fail with this type of error."""
    try:
        call(*arguments)
    except error as problem:
        assert type(problem) is error, problem
        return str(problem).split("\n")[0]
    raise AssertionError("the call did not fail")


def scalars(m, ctx):
    largest = [2**7 - 1, 2**15 - 1, 2**31 - 1, 2**63 - 1, 2**8 - 1, 2**16 - 1, 2**32 - 1, 2**64 - 1]
    lowest = (-(2**7), -(2**15), -(2**31), -(2**63), 0, 0, 0, 0)
    expect(ctx.scalars(*largest, 0.5, 0.5, 0.5, True), (*lowest, 1.5, 1.5, 1.5, False))
    infinite = float("inf"), float("-inf"), 1e300
    expect(ctx.scalars(*[0] * 8, *infinite, False)[8:], (*infinite, True))
    expect(ctx.answer(), 42)
    expect(ctx.nothing(1), None)


def arrays(m, ctx):
    classes = [m.ArrayI8, m.ArrayI16, m.ArrayI32, m.ArrayI64, m.ArrayU8, m.ArrayU16, m.ArrayU32, m.ArrayU64]
    floats = [m.ArrayF16, m.ArrayF32, m.ArrayF64]
    vectors = [cls.from_values(ctx, [1, 2, 3]) for cls in classes]
    vectors += [cls.from_values(ctx, [0.5, -1, 2]) for cls in floats]
    vectors += [m.ArrayBool.from_values(ctx, [True, True, False])]
    results = ctx.vectors(*vectors)
    assert type(results) is tuple
    assert [type(result) for result in results] == classes + floats + [m.ArrayBool]
    vectors_of_floats = [[2.0, -1.0, 0.5]] * 3
    expect([result.values() for result in results][:8], [[3, 2, 1]] * 8)
    expect([result.values() for result in results][8:], [*vectors_of_floats, [False, True, True]])
    empty = m.ArrayI32.from_values(ctx, [])
    expect((empty.values(), empty.shape), ([], (0,)))

    matrix = m.ArrayArrayI32.from_values(ctx, [[1, 2, 3], [4, 5, 6]])
    assert matrix.values() == m.ArrayArrayI32.from_values(ctx, [1, 2, 3, 4, 5, 6], (2, 3)).values()
    transposed = ctx.transposed(matrix)
    expect((transposed.values(), transposed.shape, transposed[2, 1]), ([1, 4, 2, 5, 3, 6], (3, 2), 6))
    expect(ctx.transposed(m.ArrayArrayI32.from_values(ctx, [], (2, 0))).shape, (0, 2))
    cube = ctx.flipped(m.ArrayArrayArrayBool.from_values(ctx, [[[True, False], [True, True]]]))
    expect((cube.values(), cube.shape, len(cube)), ([False, True, False, False], (1, 2, 2), 1))
    expect(list(vectors[2]), [1, 2, 3])


def records(m, ctx):
    origin, corner = m.Point(ctx, 0, 0), m.Point(ctx, y=4, x=3)
    expect((corner.x, corner.y), (3.0, 4.0))
    segment = m.Segment(ctx, origin, corner)
    expect(ctx.segment_length(segment), 5.0)
    turned = ctx.turned(segment)
    expect((turned.from_.x, turned.to.x), (3.0, 0.0))

    corners = m.ArrayPoint.zip(ctx, m.ArrayF64.from_values(ctx, [1, 2]), m.ArrayF64.from_values(ctx, [3, 4]))
    polygon = m.Polygon(ctx, corners, 7, m.ArrayF32.from_values(ctx, [0.5]))
    moved = ctx.moved(polygon, m.Point(ctx, 10, 20))
    expect([moved.corners.x.values(), moved.corners.y.values()], [[11.0, 12.0], [23.0, 24.0]])
    expect((moved.name, moved.weights.values()), (7, [0.5]))
    first = ctx.first_corner(moved)
    expect((first.x, first.y), (11.0, 23.0))
    expect(ctx.unmarked(ctx.marked(5).mark, 6), 6)


def tuples(m, ctx):
    low, high = ctx.range(m.ArrayI32.from_values(ctx, [4, -1, 9]))
    expect((low, high), (-1, 9))
    expect((ctx.width((low, high)), ctx.width(m.Minmax(ctx, 1, 3))), (10, 2))
    number, pair = ctx.nested(5, True)
    ok, array = pair
    expect((number, ok, array.values()), (5, True, [5, -5]))
    # In the C API, this abstract type is a tuple.
    counter = ctx.step(ctx.count_from(5))
    expect((counter, ctx.count(counter), ctx.count(ctx.step(counter))), ((6, False), -6, 7))


def sums(m, ctx):
    lights = m.Light.green(ctx), m.Light.yellow(ctx), m.Light.red(ctx)
    expect([light.match() for light in lights], [("green", ()), ("yellow", ()), ("red", ())])
    nexts = [ctx.next_light(light).match()[0] for light in lights]
    expect(nexts, ["yellow", "red", "green"])
    shapes = [
        m.Shape.circle(ctx, 2),
        m.Shape.label(ctx, 7, True),
        m.Shape.lit(ctx, m.Light.red(ctx)),
        m.Shape.path(ctx, m.ArrayF64.from_values(ctx, [1, 2])),
        m.Shape.point(ctx),
        m.Shape.stretch(ctx, m.Segment(ctx, m.Point(ctx, 0, 0), m.Point(ctx, 6, 8))),
    ]
    grown = [
        ("circle", [3.0], 4.0),
        ("label", [8, False], 7.0),
        ("lit", [("green", ())], 1.0),
        ("path", [[2.0, 3.0]], 3.0),
        ("point", [], 0.0),
        ("stretch", [(0.0, 6.0)], 10.0),
    ]
    for shape, expected in zip(shapes, grown):
        name, payload = ctx.grown(shape).match()
        expect((name, [plain(value) for value in payload], ctx.size(shape)), expected)


def plain(value):
    """A payload that can be compared."""
    for attribute in "match", "values":
        if hasattr(value, attribute):
            return getattr(value, attribute)()
    return (value.from_.x, value.to.x) if hasattr(value, "to") else value


def arrays_of_them(m, ctx):
    points = m.ArrayPoint.zip(ctx, m.ArrayF64.from_values(ctx, [1, 2, 3]), m.ArrayF64.from_values(ctx, [4, 5, 6]))
    mirrored = ctx.mirrored(points)
    expect((mirrored.shape, mirrored.x.values(), mirrored[2].x), ((3,), [4.0, 5.0, 6.0], 6.0))
    expect([point.y for point in mirrored], [1.0, 2.0, 3.0])
    lights = ctx.next_lights(ctx.lights(3))
    expect((lights.shape, [light.match()[0] for light in lights]), ((3,), ["green", "yellow", "green"]))
    numbers, truths = m.ArrayI32.from_values(ctx, [1, 2]), m.ArrayBool.from_values(ctx, [True, False])
    pairs = m.ArrayTupleI32Bool.zip(ctx, numbers, truths)
    expect([tuple(pair) for pair in pairs], [(1, True), (2, False)])
    expect([part.values() for part in ctx.split(pairs)], [[1, 2], [True, False]])
    counters = ctx.counters(3)
    expect((counters.shape, ctx.count(ctx.step(tuple(counters[2])))), ((3,), -3))
    if "new" in m.ArrayLight.OPERATIONS:
        lights = m.ArrayLight.from_elements(ctx, [m.Light.red(ctx), m.Light.green(ctx)])
        replaced = lights.replaced(0, m.Light.yellow(ctx))
        assert [light.match()[0] for light in lights] == ["red", "green"]
        assert [light.match()[0] for light in replaced] == ["yellow", "green"]
    else:
        message = refused(m.FutharkError, m.ArrayLight.from_elements, ctx, [m.Light.red(ctx)])
        assert message == "the compiler generated no function new for []light", message


def storing(m, ctx):
    light = m.Light.yellow(ctx)
    data = light.store()
    expect(m.Light.restore(ctx, data).match(), ("yellow", ()))
    for damaged in data[:-1], data + b"\0", data[:-1] + bytes([data[-1] ^ 1]), data[1:], b"":
        refused(ValueError, m.Light.restore, ctx, damaged)
    other = refused(ValueError, m.Shape.restore, ctx, data)
    expect(other, "not the bytes of a shape of this program")


def consumption(m, ctx):
    array = m.ArrayI32.from_values(ctx, [1, 2, 3])
    alias = ctx.same(array)
    expect(ctx.cleared(array, 1).values(), [1, 0, 3])
    expect([array.values(), alias.values()], [[1, 2, 3]] * 2)
    refused(m.FutharkError, ctx.cleared, alias, 3)
    expect(ctx.cleared(ctx.table(0), 0).values(), [0, 20, 30])
    expect(ctx.table(0).values(), [10, 20, 30])
    weights = m.ArrayF32.from_values(ctx, [1, 2])
    corners = m.ArrayPoint.zip(ctx, m.ArrayF64.from_values(ctx, []), m.ArrayF64.from_values(ctx, []))
    polygon = m.Polygon(ctx, corners, 1, weights)
    renamed = ctx.renamed(polygon, 2)
    expect((renamed.name, renamed.weights.values()), (2, [2.0, 3.0]))
    expect((polygon.name, weights.values()), (1, [1.0, 2.0]))


def errors(m, ctx):
    three, two = m.ArrayI32.from_values(ctx, [1, 2, 3]), m.ArrayI32.from_values(ctx, [1, 2])

    def fails(message, error, call, *arguments):
        expect(refused(error, call, *arguments), message)
        # The error is not pending any more.
        assert ctx.at(three, 2) == 3 and ctx.divided(7, 2) == 3

    fails("Error: Index [10] out of bounds for array of shape [3].", m.FutharkError, ctx.at, three, 10)
    assert isinstance(json.loads(ctx.report()), dict)
    # Leaves an error pending, like failed work on a GPU; the next call returns 0.
    assert ctx._c.futhark_entry_divided(ctx._context, ctypes.byref(ctypes.c_int32()), 1, 0).failed
    fails("Error: division by zero", m.FutharkError, ctx.answer)
    fails("Error: division by zero", m.FutharkError, ctx.divided, 1, 0)
    fails("Error: Assertion is false: (x >= 0)", m.FutharkError, ctx.root, -1)
    fails("Error: entry point arguments have invalid sizes.", m.FutharkError, ctx.dot, three, two)
    one = m.ArrayBool.from_values(ctx, [True])
    fails("Cannot zip arrays with different shapes.", m.FutharkError, m.ArrayTupleI32Bool.zip, ctx, three, one)
    fails("(3,) is out of bounds for the shape (3,)", IndexError, lambda: three[3])
    fails("(-1,) is out of bounds for the shape (3,)", IndexError, lambda: three[-1])
    fails("expected 1 indices, got 2", TypeError, lambda: three[0, 0])
    matrix = m.ArrayArrayI32.from_values
    fails("3 elements do not have the shape [2, 2] of rank 2", ValueError, matrix, ctx, [1, 2, 3], (2, 2))
    fails("2 elements do not have the shape [-1, -2] of rank 2", ValueError, matrix, ctx, [1, 2], (-1, -2))
    fails("expected values of type i64, got [18446744073709551616]", ValueError, matrix, ctx, [], (0, 2**64))
    fails("2 elements do not have the shape [2] of rank 2", ValueError, matrix, ctx, [1, 2], (2,))
    fails("the rows have different lengths", ValueError, matrix, ctx, [[1, 2], [3]])
    fails("expected values of type i32, got [2147483648]", ValueError, ctx.divided, 2**31, 1)
    fails("expected values of type u8, got [256]", ValueError, m.ArrayU8.from_values, ctx, [256])
    fails("expected ArrayI32, got ArrayI64", TypeError, ctx.at, m.ArrayI64.from_values(ctx, [1]), 0)
    fails("expected Light, got Point", TypeError, m.Shape.lit, ctx, m.Point(ctx, 0, 0))
    refused(TypeError, ctx.width, (1, 2, 3))
    three_again = three.copy()
    three_again.free()
    three_again.free()
    fails("the value has been freed", ValueError, ctx.at, three_again, 0)


def names(m, ctx):
    expect(ctx.close_(self_=1, None_=2), 12)
    record = ctx.lambda_(1, arg_2=2)
    expect((record.class_, record.class_prime, record.copy_), (1, 2, 3))
    # Of `f'` and `f_prime` the latter keeps its name.
    primes = [name for name in dir(ctx) if name.startswith("f_prime")]
    expect((sorted(getattr(ctx, name)(1) for name in primes), ctx.f_prime(1)), ([2, 3], 3))
    expect(ctx.op_plus_plus_plus(1, 2), 3)
    expect(ctx.cleared.__doc__, "cleared (xs: *[]i32) (i: i64) : []i32")


def memory(m, ctx):
    def work(results):
        for n in range(200):
            array = m.ArrayI32.from_values(ctx, [n] * 10)
            results.append(ctx.dot(array, ctx.same(array)) == 10 * n * n)

    # Values of several threads; any thread may free them.
    all_results = [[] for _ in range(4)]
    threads = [threading.Thread(target=work, args=(results,)) for results in all_results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all_results == [[True] * 200] * 4
    # All parts have dropped their values, so only those of this part can be alive.
    gc.collect()
    ctx.answer()
    expect(len(ctx._live), 0)


def closing(m, library):
    first, second = m.Context(library), m.Context(library)
    array = m.ArrayI32.from_values(first, [1])
    expect(refused(ValueError, second.at, array, 0), "the value belongs to another context")
    expect((first.at(array, 0), second.at(m.ArrayI32.from_values(second, [2]), 0)), (1, 2))
    # The value keeps its context alive.
    del first
    expect(array[0], 1)
    array.ctx.close()
    array.ctx.close()
    expect(refused(m.FutharkError, array.values), "the context is closed or belongs to another process")
    second.close()
    unknown = refused(TypeError, lambda: m.Context(library, number_of_threads=2))
    setter = "futhark_context_config_set_number_of_threads"
    expect(unknown, f"unknown setting: the library has no function {setter}")
    refused(OSError, m.Context, library + ".missing")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Tests the generated module of programs/bridges/everything.fut with the compiled library.

    python3 drive.py MODULE LIBRARY

Asserts what does not depend on the values, and prints every value, which the caller compares.
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


def show(what, *values):
    print(what + ":", *map(repr, values))


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
    show("scalars", ctx.scalars(*largest, 0.5, 0.5, 0.5, True))
    show("infinite", ctx.scalars(*[0] * 8, float("inf"), float("-inf"), 1e300, False)[8:])
    show("answer", ctx.answer())
    show("nothing", ctx.nothing(1))


def arrays(m, ctx):
    classes = [m.ArrayI8, m.ArrayI16, m.ArrayI32, m.ArrayI64, m.ArrayU8, m.ArrayU16, m.ArrayU32, m.ArrayU64]
    floats = [m.ArrayF16, m.ArrayF32, m.ArrayF64]
    vectors = [cls.from_values(ctx, [1, 2, 3]) for cls in classes]
    vectors += [cls.from_values(ctx, [0.5, -1, 2]) for cls in floats]
    vectors += [m.ArrayBool.from_values(ctx, [True, True, False])]
    results = ctx.vectors(*vectors)
    assert type(results) is tuple
    assert [type(result) for result in results] == classes + floats + [m.ArrayBool]
    for result in results:
        show("vector", result.values())
    empty = m.ArrayI32.from_values(ctx, [])
    show("empty", empty.values(), empty.shape)

    matrix = m.ArrayArrayI32.from_values(ctx, [[1, 2, 3], [4, 5, 6]])
    assert matrix.values() == m.ArrayArrayI32.from_values(ctx, [1, 2, 3, 4, 5, 6], (2, 3)).values()
    transposed = ctx.transposed(matrix)
    show("transposed", transposed.values(), transposed.shape, transposed[2, 1])
    show("no columns", ctx.transposed(m.ArrayArrayI32.from_values(ctx, [], (2, 0))).shape)
    cube = ctx.flipped(m.ArrayArrayArrayBool.from_values(ctx, [[[True, False], [True, True]]]))
    show("flipped", cube.values(), cube.shape, len(cube))
    show("iterated", list(vectors[2]))


def records(m, ctx):
    origin, corner = m.Point(ctx, 0, 0), m.Point(ctx, y=4, x=3)
    show("point", corner.x, corner.y)
    segment = m.Segment(ctx, origin, corner)
    show("length", ctx.segment_length(segment))
    turned = ctx.turned(segment)
    show("turned", turned.from_.x, turned.to.x)

    corners = m.ArrayPoint.zip(ctx, m.ArrayF64.from_values(ctx, [1, 2]), m.ArrayF64.from_values(ctx, [3, 4]))
    polygon = m.Polygon(ctx, corners, 7, m.ArrayF32.from_values(ctx, [0.5]))
    moved = ctx.moved(polygon, m.Point(ctx, 10, 20))
    show("moved", moved.corners.x.values(), moved.corners.y.values(), moved.name, moved.weights.values())
    first = ctx.first_corner(moved)
    show("first corner", first.x, first.y)
    show("unit", ctx.unmarked(ctx.marked(5).mark, 6))


def tuples(m, ctx):
    low, high = ctx.range(m.ArrayI32.from_values(ctx, [4, -1, 9]))
    show("range", low, high)
    show("width", ctx.width((low, high)), ctx.width(m.Minmax(ctx, 1, 3)))
    number, pair = ctx.nested(5, True)
    ok, array = pair
    show("nested", number, ok, array.values())
    # In the C API, this abstract type is a tuple.
    counter = ctx.step(ctx.count_from(5))
    show("counter", counter, ctx.count(counter), ctx.count(ctx.step(counter)))


def sums(m, ctx):
    for light in m.Light.green(ctx), m.Light.yellow(ctx), m.Light.red(ctx):
        show("light", light.match(), ctx.next_light(light).match())
    shapes = [
        m.Shape.circle(ctx, 2),
        m.Shape.label(ctx, 7, True),
        m.Shape.lit(ctx, m.Light.red(ctx)),
        m.Shape.path(ctx, m.ArrayF64.from_values(ctx, [1, 2])),
        m.Shape.point(ctx),
        m.Shape.stretch(ctx, m.Segment(ctx, m.Point(ctx, 0, 0), m.Point(ctx, 6, 8))),
    ]
    for shape in shapes:
        name, payload = ctx.grown(shape).match()
        show("grown", name, *[plain(value) for value in payload], ctx.size(shape))


def plain(value):
    """A payload in printable form."""
    for attribute in "match", "values":
        if hasattr(value, attribute):
            return getattr(value, attribute)()
    return (value.from_.x, value.to.x) if hasattr(value, "to") else value


def arrays_of_them(m, ctx):
    points = m.ArrayPoint.zip(ctx, m.ArrayF64.from_values(ctx, [1, 2, 3]), m.ArrayF64.from_values(ctx, [4, 5, 6]))
    mirrored = ctx.mirrored(points)
    show("mirrored", mirrored.shape, mirrored.x.values(), mirrored[2].x, [point.y for point in mirrored])
    lights = ctx.next_lights(ctx.lights(3))
    show("lights", lights.shape, [light.match()[0] for light in lights])
    numbers, truths = m.ArrayI32.from_values(ctx, [1, 2]), m.ArrayBool.from_values(ctx, [True, False])
    pairs = m.ArrayTupleI32Bool.zip(ctx, numbers, truths)
    show("pairs", [tuple(pair) for pair in pairs])
    show("split", [part.values() for part in ctx.split(pairs)])
    counters = ctx.counters(3)
    show("counters", counters.shape, ctx.count(ctx.step(tuple(counters[2]))))
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
    show("restored", m.Light.restore(ctx, data).match())
    for damaged in data[:-1], data + b"\0", data[:-1] + bytes([data[-1] ^ 1]), data[1:], b"":
        refused(ValueError, m.Light.restore, ctx, damaged)
    show("other type", refused(ValueError, m.Shape.restore, ctx, data))


def consumption(m, ctx):
    array = m.ArrayI32.from_values(ctx, [1, 2, 3])
    alias = ctx.same(array)
    show("cleared", ctx.cleared(array, 1).values(), array.values(), alias.values())
    refused(m.FutharkError, ctx.cleared, alias, 3)
    show("constants", ctx.cleared(ctx.table(0), 0).values(), ctx.table(0).values())
    weights = m.ArrayF32.from_values(ctx, [1, 2])
    corners = m.ArrayPoint.zip(ctx, m.ArrayF64.from_values(ctx, []), m.ArrayF64.from_values(ctx, []))
    polygon = m.Polygon(ctx, corners, 1, weights)
    renamed = ctx.renamed(polygon, 2)
    show("renamed", renamed.name, renamed.weights.values(), polygon.name, weights.values())


def errors(m, ctx):
    three, two = m.ArrayI32.from_values(ctx, [1, 2, 3]), m.ArrayI32.from_values(ctx, [1, 2])

    def fails(what, error, call, *arguments):
        show(what, refused(error, call, *arguments))
        # The error is not pending any more.
        assert ctx.at(three, 2) == 3 and ctx.divided(7, 2) == 3

    fails("bounds", m.FutharkError, ctx.at, three, 10)
    assert isinstance(json.loads(ctx.report()), dict)
    # Leaves an error pending, like failed work on a GPU; the next call returns 0.
    assert ctx._c.futhark_entry_divided(ctx._context, ctypes.byref(ctypes.c_int32()), 1, 0).failed
    fails("pending", m.FutharkError, ctx.answer)
    fails("division", m.FutharkError, ctx.divided, 1, 0)
    fails("assertion", m.FutharkError, ctx.root, -1)
    fails("sizes", m.FutharkError, ctx.dot, three, two)
    fails("zip", m.FutharkError, m.ArrayTupleI32Bool.zip, ctx, three, m.ArrayBool.from_values(ctx, [True]))
    fails("index", IndexError, lambda: three[3])
    fails("negative index", IndexError, lambda: three[-1])
    fails("indices", TypeError, lambda: three[0, 0])
    fails("length", ValueError, m.ArrayArrayI32.from_values, ctx, [1, 2, 3], (2, 2))
    fails("negative", ValueError, m.ArrayArrayI32.from_values, ctx, [1, 2], (-1, -2))
    fails("huge", ValueError, m.ArrayArrayI32.from_values, ctx, [], (0, 2**64))
    fails("rank", ValueError, m.ArrayArrayI32.from_values, ctx, [1, 2], (2,))
    fails("ragged", ValueError, m.ArrayArrayI32.from_values, ctx, [[1, 2], [3]])
    fails("range", ValueError, ctx.divided, 2**31, 1)
    fails("element", ValueError, m.ArrayU8.from_values, ctx, [256])
    fails("type", TypeError, ctx.at, m.ArrayI64.from_values(ctx, [1]), 0)
    fails("payload", TypeError, m.Shape.lit, ctx, m.Point(ctx, 0, 0))
    refused(TypeError, ctx.width, (1, 2, 3))
    three_again = three.copy()
    three_again.free()
    three_again.free()
    fails("freed", ValueError, ctx.at, three_again, 0)


def names(m, ctx):
    show("close", ctx.close_(self_=1, None_=2))
    record = ctx.lambda_(1, arg_2=2)
    show("fields", record.class_, record.class_prime, record.copy_)
    # Of `f'` and `f_prime` the latter keeps its name.
    primes = [name for name in dir(ctx) if name.startswith("f_prime")]
    show("primes", sorted(getattr(ctx, name)(1) for name in primes), ctx.f_prime(1))
    show("operator", ctx.op_plus_plus_plus(1, 2))
    show("about", ctx.cleared.__doc__)


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
    show("alive", len(ctx._live))


def closing(m, library):
    first, second = m.Context(library), m.Context(library)
    array = m.ArrayI32.from_values(first, [1])
    show("other context", refused(ValueError, second.at, array, 0))
    show("both", first.at(array, 0), second.at(m.ArrayI32.from_values(second, [2]), 0))
    # The value keeps its context alive.
    del first
    show("kept", array[0])
    array.ctx.close()
    array.ctx.close()
    show("closed", refused(m.FutharkError, array.values))
    second.close()
    show("setting", refused(TypeError, lambda: m.Context(library, number_of_threads=2)))
    refused(OSError, m.Context, library + ".missing")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The driver of a bridge that is tested by docs/bridges.md: adds to a server program of `futhark c --server` what
that page demands. Arguments: the server program, the name of a mistake to make or `none`, and the prefix."""

import os
import re
import subprocess
import sys
import tempfile

server, plant = sys.argv[1:3]
folder = tempfile.mkdtemp()
process = subprocess.Popen([server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
types = {}  # of each variable
consumed = set()
copies = 0


class Failure(Exception):
    pass


def answer():
    lines = []
    for line in process.stdout:
        line = line.rstrip("\n")
        if line == "%%% OK":
            if "%%% FAILURE" in lines:
                raise Failure("\n".join(lines[lines.index("%%% FAILURE") + 1 :]))
            return lines
        lines.append(line)
    sys.exit("the server program has ended")


def ask(*words):
    process.stdin.write(" ".join(f'"{word}"' for word in words) + "\n")
    process.stdin.flush()
    return answer()


def expect(condition, message):
    if not condition:
        raise Failure(message)


def known(variables):
    for variable in variables:
        expect(variable in types, f"Unknown variable: {variable}")
        expect(variable not in consumed, f"The variable was consumed: {variable}")


def unknown(variables):
    for variable in variables:
        expect(variable not in types, f"Variable already exists: {variable}")


def lists(command, entry):
    expect(entry in ask("entry_points"), f"Unknown entry point: {entry}")
    return ask(command, entry)


def restore(file, *pairs):
    variables, of = pairs[::2], pairs[1::2]
    unknown(variables)
    for ty in of:
        expect(ty in ask("types"), f"Unknown type: {ty}")
    try:
        ask("restore", file, *pairs)
    except Failure:
        # Those before the one that failed exist.
        for variable in variables:
            try:
                ask("free", variable)
            except Failure:
                pass
        raise
    types.update(zip(variables, of))


def store(file, *variables):
    known(variables)
    ask("store", file, *variables)
    if plant == "drops-an-element" and len(variables) == 1:
        with open(file, "rb+") as stored:
            text = stored.read()
            rank, extent = text[2], int.from_bytes(text[7:15], "little")
            if rank == 1 and extent > 0 and types[variables[0]].startswith("[]"):
                data = text[15:]
                stored.seek(7)
                stored.write((extent - 1).to_bytes(8, "little") + data[: len(data) // extent * (extent - 1)])
                stored.truncate()
    if plant == "swaps-the-shape" and len(variables) == 1:
        with open(file, "rb+") as stored:
            text = stored.read(23)
            if text[2] == 2:
                stored.seek(7)
                stored.write(text[15:23] + text[7:15])


def call(entry, *variables):
    global copies
    inputs, outputs = lists("inputs", entry), lists("outputs", entry)
    results, arguments = variables[: len(outputs)], list(variables[len(outputs) :])
    unknown(results)
    known(arguments)
    actual = [types[argument] for argument in arguments]
    expect(actual == [ty.lstrip("*") for ty in inputs], f"Expected {inputs}, got {actual}")
    uses = [argument for argument, ty in zip(arguments, inputs) if ty.startswith("*")]
    for index, ty in enumerate(inputs):
        if ty.startswith("*") and plant != "shares-memory":
            # Its memory may be shared.
            copies += 1
            file = os.path.join(folder, "copy")
            ask("store", file, arguments[index])
            arguments[index] = f"copy {copies}"
            ask("restore", file, arguments[index], ty.lstrip("*"))
    try:
        ask("call", entry, *results, *arguments)
    except Failure:
        if plant != "loses-errors":
            raise
    if plant != "uses-consumed":
        consumed.update(uses)
    types.update((result, ty.lstrip("*")) for result, ty in zip(results, outputs))


def free(*variables):
    for variable in variables:
        expect(variable in types, f"Unknown variable: {variable}")
        ask("free", variable)
        del types[variable]
        consumed.discard(variable)


def clear():
    ask("clear")
    types.clear()
    consumed.clear()


def new(variable, ty, *parts):
    unknown([variable])
    known(parts)
    fields = [line.split(" ", 1)[1] for line in ask("fields", ty)]
    expect([types[part] for part in parts] == fields, f"Expected {fields}")
    ask("new", variable, ty, *parts)
    types[variable] = ty


def project(variable, whole, name):
    unknown([variable])
    known([whole])
    fields = dict(line.split(" ", 1) for line in ask("fields", types[whole]))
    expect(name in fields, f"No such field: {name}")
    ask("project", variable, whole, name)
    types[variable] = fields[name]


commands = {
    "inputs": lambda entry: lists("inputs", entry),
    "outputs": lambda entry: lists("outputs", entry),
    "restore": restore,
    "store": store,
    "call": call,
    "free": free,
    "clear": clear,
    "new": new,
    "project": project,
}

if plant == "lacks-records":
    del commands["new"]

answer()
print("%%% OK", flush=True)
for line in sys.stdin:
    command, *words = (quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', line))
    try:
        expect(command in commands, f"Unknown command: {command}")
        for text in commands[command](*words) or []:
            print(text)
    except Failure as failure:
        if plant == "ends-at-failures":
            print("out of luck", file=sys.stderr)
            sys.exit(4)
        print(f"%%% FAILURE\n{failure}")
    print("%%% OK", flush=True)

#!/usr/bin/env python3
"""Writes a Python module (ctypes) for a compiled Futhark program, from the output of `resolve`.

    futhark c --library prog.fut
    cc -O3 -std=c99 -shared -fPIC prog.c -o libprog.so -lm
    futhark-manifest resolve prog.json | python3 ctypes_from_json.py > prog.py

The page docs/resolved.md describes the input. The module starts with ctypes_runtime.py, which is the same for
all programs.
"""

import builtins
import json
import keyword
import pathlib
import re
import sys
import zlib

# Reserved names: for classes of a program, for members of values, and for methods of contexts.
CLASSES = """Array BOOL Context F16 F32 F64 FutharkError I16 I32 I64 I8 Opaque OpaqueArray
    Program Sum Tuple U16 U32 U64 U8 Value""".split()
MEMBERS = """ELEMENT NAME OPERATIONS RANK VARIANTS _data _do _flat _handle _label
    _operation _place argument cls copy ctx free from_elements handle match replaced restore self
    shape slot store take zip""".split()
METHODS = """FUNCTIONS INTERFACE _c _call _check _config _context _errors _free
    _garbage _live _lock _process _text close report""".split()

# Not offered: the garbage collector could free a value while its memory is still in use.
RAW = ["array.new_raw", "array.values_raw"]

BASES = {
    "array": "Array",
    "opaque": "Opaque",
    "record": "Opaque",
    "sum": "Sum",
    "record_array": "OpaqueArray",
    "opaque_array": "OpaqueArray",
}
RETURNS = {"status": "_Status", "handle": "_Handle", "shape": "_Shape", "variant": "_Variant"}


def main():
    program = json.load(sys.stdin)
    if program["format"] != "futhark-manifest-resolved" or program["format_version"] != 2:
        sys.exit("expected a resolved manifest of format version 2")
    runtime = pathlib.Path(__file__).with_name("ctypes_runtime.py").read_text(encoding="utf-8")
    module = "# @generated from the manifest of a Futhark program.\n\n" + runtime + Bridge(program).module()
    sys.stdout.buffer.write(module.encode())


class Bridge:
    def __init__(self, program):
        self.program = program
        for ty in program["types"]:
            ty["functions"] = [f for f in ty["functions"] if f["operation"] not in RAW]
        names = [ty["name"] for ty in program["types"]]
        self.classes = identifiers(names, CLASSES + dir(builtins), camel=True)

    def module(self):
        return "".join(map(self.type_class, self.program["types"], self.classes)) + self.context()

    def type_class(self, ty, name):
        base = "Tuple" if ty.get("is_tuple") else BASES[ty["kind"]]
        about = docstring(ty["doc"] if ty["doc"] is not None else f"The Futhark type {ty['name']}.")
        text = f"\n\nclass {name}({base}):\n    {about}\n    NAME = {literal(ty['name'])}\n"
        if "element" in ty:
            text += f"    ELEMENT, RANK = {self.class_of(ty['element'])}, {ty['rank']}\n"
        whole = [f for f in ty["functions"] if "field" not in f and "variant" not in f]
        text += table("OPERATIONS = {", [f"{literal(f['operation'].split('.')[1])}: {literal(f['name'])}" for f in whole], "}")
        parts = identifiers([part["name"] for part in ty.get("fields", ty.get("variants", []))], MEMBERS)
        if ty["kind"] == "sum":
            destructs = [f["name"] for f in ty["functions"] if f["operation"] == "sum.destruct"]
            rows = zip(ty["variants"], destructs)
            text += table("VARIANTS = [", [
                f"({literal(variant['name'])}, {literal(destruct)}, [{self.classes_of(variant['payload'])}])"
                for variant, destruct in rows
            ], "]")
        for function in ty["functions"]:
            operation = function["operation"]
            if operation == "record.new":
                text += self.method("", "__new__(cls, ctx", parts, function)
            elif operation == "record_array.zip":
                text += self.method("    @classmethod\n", "zip(cls, ctx", parts, function)
            elif operation.endswith(".project"):
                text += self.method("    @property\n", parts[function["field"]] + "(self", [], function)
            elif operation == "sum.construct":
                variant = function["variant"]
                payload = [f"v{index}" for index in range(len(ty["variants"][variant]["payload"]))]
                text += self.method("    @classmethod\n", parts[variant] + "(cls, ctx", payload, function)
        if base == "Tuple":
            fields = ", ".join("self." + part for part in parts)
            text += f"\n    def __iter__(self):\n        return iter([{fields}])\n"
        return text

    def method(self, above, head, names, function):
        ctx = "ctx" if head.endswith("ctx") else "self.ctx"
        call = self.call(ctx, function, names)
        return f"\n{above}{definition(head, names)}        return {call}[0]\n"

    def context(self):
        program = self.program
        text = f"\n\nclass Context(Program):\n    INTERFACE = {literal(program['interface']['hash'])}\n"
        functions = [f for ty in program["types"] for f in ty["functions"]]
        functions += [entry["function"] for entry in program["entry_points"]]
        rows = []
        for function in functions:
            types = ", ".join(c_type(parameter["c_type"]) for parameter in function["parameters"])
            rows.append(f"{literal(function['name'])}: ({RETURNS[function['returns']]}, {types})")
        text += table("FUNCTIONS = {", rows, "}")
        methods = identifiers([entry["name"] for entry in program["entry_points"]], METHODS)
        return text + "".join(map(self.entry, methods, program["entry_points"]))

    def entry(self, name, entry):
        reserved = ["self", "tuple"] + CLASSES + self.classes
        parameters = identifiers([given["name"] for given in entry["inputs"]], reserved)
        call = self.call("self", entry["function"], parameters)
        # A tuple is a Python tuple, however the compiler returns it.
        form = entry["result"]["form"]
        call = {"one": f"return {call}[0]", "several": f"return {call}", "tuple": f"return tuple({call}[0])"}.get(form, call)
        about = docstring(self.about(entry))
        return f"\n{definition(name + '(self', parameters)}        {about}\n        {call}\n"

    def about(self, entry):
        text = entry["name"]
        for given in entry["inputs"]:
            text += f" ({given['name']}: {'*' if given['consumed'] else ''}{self.name_of(given['type'])})"
        results = [self.name_of(ty) for ty in entry["result"]["components"]]
        text += f" : {results[0]}" if len(results) == 1 else f" : ({', '.join(results)})"
        return text if entry["doc"] is None else f"{text}\n\n{entry['doc']}"

    def call(self, ctx, function, names):
        """The call of a C function, with the types of its results and its arguments."""
        outputs, arguments = [], []
        for parameter in function["parameters"]:
            role = parameter["role"]
            if role == "output":
                outputs.append(parameter["type"])
            elif role == "value":
                arguments.append("self")
            elif role in ("field", "payload", "argument"):
                # The C API does not show which values or constants share memory, so consumed
                # arguments are copied.
                copy = ".copy()" if parameter["passing"] == "consumed" else ""
                name = names[parameter["index"]]
                arguments.append(f"{self.class_of(parameter['type'])}.argument({ctx}, {name}){copy}")
        arguments = [literal(function["name"]), f"[{self.classes_of(outputs)}]"] + arguments
        line = f"{ctx}._call({', '.join(arguments)})"
        if len(line.encode()) <= 100:
            return line
        arguments = "".join(f"            {argument},\n" for argument in arguments)
        return f"{ctx}._call(\n{arguments}        )"

    def class_of(self, ty):
        return ty["scalar"].upper() if "scalar" in ty else self.classes[ty["type"]]

    def classes_of(self, types):
        return ", ".join(map(self.class_of, types))

    def name_of(self, ty):
        return ty["scalar"] if "scalar" in ty else self.program["types"][ty["type"]]["name"]


def c_type(text):
    """The name of a C type in ctypes, or None if it has none."""
    text = text if text == "const char *" else re.sub("^const ", "", text)
    if text.endswith("*"):
        return "c_char_p" if text == "const char *" else "c_void_p"
    known = {"void": "None", "size_t": "c_size_t"}
    if re.fullmatch("u?int(8|16|32|64)_t|bool|char|int|float|double", text):
        return "c_" + re.sub("_t$", "", text)
    return known.get(text)


def table(head, rows, end):
    return f"    {head}\n{''.join(f'        {row},' + chr(10) for row in rows)}    {end}\n"


def definition(head, names):
    return f"    def {head}{''.join(', ' + name for name in names)}):\n"


def docstring(text):
    return f'""{literal(text)}""'


def literal(text):
    return json.dumps(text, ensure_ascii=False)


# Identifiers: names stay if they can, or their other characters are replaced; of several names that would get the
# same identifier, those that are spelled differently get a hash.

OPERATORS = dict(zip("+-*/%=!<>|&^~$@?`", """plus minus times slash percent equals bang less greater bar and
    caret tilde dollar at question tick""".split()))


def identifiers(names, reserved, camel=False):
    """A different identifier for each name of a list, in which names may repeat."""
    reserved = {*reserved, *keyword.kwlist}
    keys = [(name, names[:place].count(name) + 1) for place, name in enumerate(names)]
    wanted = [spell(name, camel) + (f"_{nth}" if nth > 1 else "") for name, nth in keys]
    wanted = [name + "_" * (name in reserved) for name in wanted]
    result = []
    for key, identifier in zip(keys, wanted):
        if wanted.count(identifier) > 1 and key != (identifier, 1):
            identifier += f"_{zlib.crc32(repr(key).encode()):08x}"
        while identifier in result or identifier in reserved:
            identifier += "_"
        result.append(identifier)
    return result


def spell(name, camel):
    if camel:
        meanings = {"[]": "array", "(": "tuple", "'": "prime"}
        words = re.findall(r"[A-Za-z0-9]+|\[\]|[(']", name.replace("()", "unit"))
        text = "".join(word[:1].upper() + word[1:] for word in (meanings.get(word, word) for word in words)) or "Opaque"
    else:
        text = "op" if name and all(c in OPERATORS for c in name) else ""
        for c in name:
            text += c if re.match("[A-Za-z0-9_]", c) else "_prime" if c == "'" else "_" + OPERATORS.get(c, "")
        text = re.sub("_+", "_", text) if text.strip("_") else "arg"
    return ("T" if camel else "_") * text[0].isdigit() + text


if __name__ == "__main__":
    main()

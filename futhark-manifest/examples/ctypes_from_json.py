#!/usr/bin/env python3
"""Writes a Python module (ctypes) for a compiled Futhark program, from the output of `resolve`.

    futhark c --library prog.fut
    cc -O3 -std=c99 -shared -fPIC prog.c -o libprog.so -lm
    futhark-manifest resolve prog.json | python3 ctypes_from_json.py > prog.py

ctypes.rs writes the same module, byte for byte; this script needs no Rust.
"""

import builtins
import json
import keyword
import pathlib
import re
import sys

# Reserved names: for classes of a program, for members of values, and for methods of contexts.
CLASSES = """Array BOOL Context F16 F32 F64 FutharkError I16 I32 I64 I8 Opaque OpaqueArray
    Program Sum Tuple U16 U32 U64 U8 Value""".split()
MEMBERS = """ELEMENT NAME OPERATIONS RANK VARIANTS _data _do _flat _handle _label
    _operation _place argument cls copy ctx free from_elements handle match replaced restore self
    shape slot store take zip""".split()
METHODS = """FUNCTIONS INTERFACE LIBRARY _c _call _check _config _context _errors _free
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
    if program["format"] != "futhark-manifest-resolved" or program["format_version"] != 1:
        sys.exit("expected a resolved manifest of format version 1")
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
        rows = []
        for function in program["library"]:
            types = [c_type(text) for text in [function["result"]] + [p["c_type"] for p in function["parameters"]]]
            # Left out: functions that some compilers do not generate, and types of other headers,
            # such as `cl_command_queue`, which have no equivalent in ctypes.
            if function["certain"] and all(types):
                if function["freed_by"] == "free":
                    types[0] = "_Text"
                rows.append(f"{literal(function['name'])}: ({', '.join(types)},)")
        text += table("LIBRARY = {", rows, "}")
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


# Identifiers, by the rules in the module `names` of the crate.

OPERATORS = dict(zip("+-*/%=!<>|&^~$@?`", """plus minus times slash percent equals bang less greater bar and
    caret tilde dollar at question tick""".split()))


def identifiers(names, reserved, camel=False):
    """A unique identifier for each name in a list: its spelling if possible, otherwise with a hash."""
    reserved = {*reserved, *keyword.kwlist}
    keys = [(name, names[:place].count(name) + 1) for place, name in enumerate(names)]
    spellings = [spell(name, nth, camel) for name, nth in keys]
    wanted = [spelling + "_" * (spelling in reserved) for spelling in spellings]
    result = []
    for key, spelling, identifier in zip(keys, spellings, wanted):
        rivals = [place for place, other in enumerate(wanted) if other == identifier]
        namesakes = [keys[place] for place in rivals if keys[place] in [(identifier, 1), (spellings[place], 1)]]
        # Of several names for one identifier, the name that equals it keeps it: of `self` and
        # `self_` the latter.
        keeper = max(namesakes, key=lambda key: key[0] == identifier, default=None)
        looks_marked = re.search(("H" if camel else "[_0]h") + "([0-9a-fx]{8}|[0-9a-fx]{16,})$", identifier)
        if identifier in reserved or looks_marked or (len(rivals) > 1 and key != keeper):
            short = fnv1a(bytes_of(squeezed(key[0]), key[1]))
            identifier = marked(spelling, f"{short >> 32 ^ short & 0xFFFFFFFF:08x}", camel)
        result.append(identifier)
    short_forms = result.copy()
    for place, identifier in enumerate(short_forms):
        if short_forms.count(identifier) > 1 and identifier != wanted[place]:
            result[place] = marked(spellings[place], f"{fnv1a(bytes_of(*keys[place])):016x}", camel)
    if len(set(result)) < len(result) or not reserved.isdisjoint(result):
        sys.exit(f"cannot assign different identifiers to these names: {names}")
    return result


def marked(spelling, digits, camel):
    return spelling + ("H" if camel else "0h" if spelling.endswith("_") else "_h") + digits


def bytes_of(name, nth):
    return name.encode() + (b"\xff%d" % nth if nth > 1 else b"")


def squeezed(name):
    """The name without the spaces that are not between two words: compilers differ in them."""
    return re.sub(r"(?<![\w'])\s+|\s+(?![\w'])", "", re.sub(r"\s+", " ", name))


def words(name):
    """The words of a type's name, with brackets that have a meaning."""
    closed = 0
    for match in re.finditer(r"[A-Za-z0-9_]+|\[\]|[()}']", name):
        word = {"[]": "array", "'": "prime", "(": "tuple"}.get(match[0], match[0])
        if word in ")}" or word == "tuple" and not is_tuple(name[match.start():]):
            closed += word in ")}"
            continue
        yield from ["end"] * closed
        closed = 0
        yield word


def is_tuple(text):
    """Whether the bracket at the beginning has a comma inside, outside of other brackets."""
    depth = 0
    for c in text:
        depth += (c in "({[") - (c in ")}]")
        if depth == 0 or c == "," and depth == 1:
            return depth == 1
    return False


def spell(name, nth, camel):
    if camel:
        text = "_".join(words(name))
        text = "unit" if name == "()" else text if text.strip("_") else "opaque"
        text = "".join(word[:1].upper() + word[1:] for word in text.split("_"))
    else:
        text = "op" if name and all(c in OPERATORS for c in name) else ""
        for c in name:
            text += c if re.match("[A-Za-z0-9_]", c) else "_prime" if c == "'" else "_" + OPERATORS.get(c, "")
        text = re.sub("_+", "_", text) if text.strip("_") else "arg"
    joint = "" if camel else "_"
    if nth > 1:
        text += joint * (not text.endswith("_")) + str(nth)
    if text[0].isdigit():
        text = ("T" if camel else "_") + text
    if len(text) > 60 and text != name:
        text = text[:60]
        text += joint * (not text.endswith("_")) + f"{fnv1a(squeezed(name).encode()):016x}"
    return text


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


if __name__ == "__main__":
    main()

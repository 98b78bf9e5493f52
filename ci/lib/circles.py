"""Usage: circles.py SRC...

Prints circles of files in the sources of crates: files each of which imports, by `use crate::` or `use super::`, one that
imports it again. A file and the modules inside of its own folder are not compared. Exit code: 0 if there is none, 1 if
there is one.
"""

import re
import sys
from pathlib import Path

PATH = re.compile(r"\b(crate|super(?:::super)*)::((?:\w+::)*)(\w+|\{[^;]*?\})")


def module(file, src):
    parts = file.relative_to(src).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def imports(module, text, modules):
    """The modules that `module` names outside of its tests and comments."""
    text = re.split(r"#\[cfg\((?:all\()?test", text)[0]
    text = re.sub(r"//.*", "", text)
    for start, middle, last in PATH.findall(text):
        base = () if start == "crate" else module[: len(module) - len(start.split("::"))]
        names = last.strip("{}").split(",") if last.startswith("{") else [last]
        for name in names:
            path = base + tuple(filter(None, middle.split("::"))) + (name.strip().split("::")[0],)
            while path and path not in modules:
                path = path[:-1]
            if path != module:
                yield path


def reachable(start, graph):
    seen, waiting = set(), list(graph[start])
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            waiting.extend(graph[at])
    return seen


found = False
for src in map(Path, sys.argv[1:]):
    files = {module(file, src): file for file in src.rglob("*.rs")}
    graph = {name: set(imports(name, file.read_text(), files)) for name, file in files.items()}
    circles = {name for name in graph if name in reachable(name, graph)}
    for name in sorted(circles):
        others = sorted(str(files[other]) for other in graph[name] & circles)
        print(f"{files[name]} is in a circle of imports with {', '.join(others)}")
    found = found or bool(circles)
sys.exit(found)

"""circles.py SRC...: prints the files of each folder that import each other in a circle; exit code 1 if any do."""

import re
import sys
from pathlib import Path

PATH = re.compile(r"\b(crate|super(?:::super)*)::((?:\w+::)*)(\w+|\{[^;]*?\})")


def imports(module, text, modules):
    """The modules that `module` names outside of its tests and comments."""
    text = re.sub(r"//.*", "", re.split(r"#\[cfg\((?:all\()?test", text)[0])
    for start, middle, last in PATH.findall(text):
        base = () if start == "crate" else module[: len(module) - len(start.split("::"))]
        for name in last.strip("{}").split(","):
            path = base + tuple(filter(None, middle.split("::"))) + (name.strip().split("::")[0],)
            while path and path not in modules:
                path = path[:-1]
            yield path


circles = []
for src in map(Path, sys.argv[1:]):
    files = {file.relative_to(src).with_suffix("").parts: file for file in src.rglob("*.rs")}
    files = {name[:-1] if name[-1] in ("mod", "lib", "main") else name: file for name, file in files.items()}
    left = {name: set(imports(name, file.read_text(), files)) - {name} for name, file in files.items()}
    # Files that import nothing that is left, or that nothing imports, are in no circle.
    while ends := {name for name in left if not left[name] & left.keys() or not any(name in other for other in left.values())}:
        left = {name: left[name] for name in left.keys() - ends}
    circles += sorted(str(files[name]) for name in left)
print(*circles, sep="\n", end="\n" * bool(circles))
sys.exit(bool(circles))

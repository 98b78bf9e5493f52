"""release.py crates: reads `cargo metadata`, prints the crates to publish. release.py contents ARCHIVE: checks a package.

Problems go to stderr, and the exit code is then 1.
"""

import json
import os
import re
import sys
import tarfile

FIELDS = ["description", "documentation", "license", "readme", "keywords", "categories"]
# What a package may contain. Tests, benches and the guide need files of the repository.
EXPECTED = re.compile(
    r"Cargo\.(lock|toml|toml\.orig)|\.cargo_vcs_info\.json|README\.md|LICENSE-(APACHE|MIT)|build\.rs|askama\.toml|"
    r"(src|build|c|docs|emulated|examples|schema|templates)/.+\.(c|cpp|css|def|h|html|js|json|md|ml|py|rb|rs|toml|txt)"
)
TESTS = re.compile(r"(.*/)?(tests|fake_tests|benches)/")
LARGEST = 1 << 20  # bytes of an archive
# Files outside of the workspace that name the version of futhark-safe.
OUTSIDE = {
    "futhark-safe/template/Cargo.toml": r'^futhark-safe = \{ version = "(.*?)"',
    "futhark-safe/examples/mpi/Cargo.lock": r'^name = "futhark-safe"\nversion = "(.*?)"',
}


def problems_of(crate, crates):
    if crate["version"] != crates[0]["version"]:
        yield f"has version {crate['version']}, {crates[0]['name']} has {crates[0]['version']}: write `version.workspace = true`"
    if crate["repository"] != crates[0]["repository"]:
        yield f"has another repository than {crates[0]['name']}: write `repository.workspace = true`"
    for field in FIELDS:
        if not crate[field]:
            yield f"has no {field}"
    if crate["features"] and "docs" not in (crate["metadata"] or {}):
        yield "has features, but no [package.metadata.docs.rs] to document them"
    for needed in ours(crate, crates):
        if needed["req"] != f"^{crate['version']}":
            yield f"requires {needed['name']} {needed['req']}, expected ^{crate['version']}: see [workspace.dependencies]"


def ours(crate, crates):
    """The dependencies on crates that are published together. Path dependencies for tests are not published."""
    return [d for d in crate["dependencies"] if d["kind"] != "dev" and d["name"] in {c["name"] for c in crates}]


def crates():
    """One line: version, repository or "-", then the names, each after those that it depends on."""
    rest = [package for package in json.load(sys.stdin)["packages"] if package["publish"] != []]
    every, order = list(rest), []
    while rest:
        ready = next(c for c in rest if not ours(c, rest))
        rest.remove(ready)
        order.append(ready["name"])
    print(every[0]["version"], every[0]["repository"] or "-", *order)
    problems = [f"{crate['name']} {problem}" for crate in every for problem in problems_of(crate, every)]
    for path, pattern in OUTSIDE.items():
        with open(path) as file:
            found = set(re.findall(pattern, file.read(), re.M))
        if found != {every[0]["version"]}:
            problems.append(f"{path} has futhark-safe {', '.join(found)}, expected {every[0]['version']}")
    return problems


def contents(archive):
    """Prints a line per file or folder at the top of the package."""
    with tarfile.open(archive) as package:
        files = {m.name.split("/", 1)[1]: package.extractfile(m).read() for m in package.getmembers()}
    name, size = os.path.basename(archive), os.path.getsize(archive)
    print(f"{name}: {len(files)} files, {size // 1024} KiB compressed")
    for top in sorted({path.split("/")[0] for path in files}):
        inside = [len(text) for path, text in files.items() if path.split("/")[0] == top]
        print(f"  {top:24} {len(inside):4} files {sum(inside) / 1024:8.1f} KiB")
    problems = [f"is larger than {LARGEST >> 20} MiB"] if size > LARGEST else []
    unexpected = [path for path in files if TESTS.match(path) or not EXPECTED.fullmatch(path)]
    problems += [f"contains {path}: leave it out by `include`, or add it to EXPECTED in {__file__}" for path in unexpected]
    for path in ("LICENSE-APACHE", "LICENSE-MIT"):
        # A copy of a symbolic link contains the path of the file.
        if files.get(path) != open(path, "rb").read():
            problems.append(f"lacks {path}, or has another text than that of the repository")
    if "README.md" not in files:
        problems.append("lacks README.md")
    for link in re.findall(r"\]\(([^)#\s]+)", files.get("README.md", b"").decode()):
        target = os.path.normpath(link)
        if not re.match(r"[a-z]+:", link) and not any(p == target or p.startswith(target + "/") for p in files):
            problems.append(f"README.md: {link} leads out of the package")
    return [f"{name} {problem}" for problem in problems]


if __name__ == "__main__":
    found = {"crates": crates, "contents": contents}[sys.argv[1]](*sys.argv[2:])
    for problem in found:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(1 if found else 0)

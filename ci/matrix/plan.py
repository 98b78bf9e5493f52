"""Prints the jobs of a conformance run as a matrix of GitHub Actions: see ci/matrix/plan --help.

Arguments: the runners as JSON, the default number of shards.
"""

import json
import re
import sys

IMAGE = "debian:12"

# The settings of the runners with these names.
KNOWN = {
    "cpu": {"backend": "c,multicore", "container": IMAGE},
    "opencl": {"backend": "opencl", "container": IMAGE},
    "emulated": {"backend": "cuda,hip", "container": IMAGE, "arguments": "--emulate always"},
    "nvidia": {"backend": "cuda,opencl", "gpu": True, "container": IMAGE, "options": "--gpus all"},
    "amd": {
        "backend": "hip,opencl",
        "gpu": True,
        "container": IMAGE,
        "options": "--device /dev/kfd --device /dev/dri",
    },
}

TYPES = {
    "runs-on": (str, list),
    "backend": str,
    "gpu": bool,
    "container": str,
    "options": str,
    "shards": int,
    "arguments": str,
}

# GitHub starts at most this many jobs of one matrix.
MOST_JOBS = 256


def fail(message):
    print(f"plan: {message}", file=sys.stderr)
    sys.exit(2)


def settings_of(name, given, shards):
    """The settings of one runner, those that are not given by default."""
    # The name is part of file names, which the parts of a merge are grouped by.
    if not re.fullmatch("[a-z0-9][a-z0-9-]*", name):
        fail(f"runner {name!r}: expected a name of lower-case letters, digits and hyphens")
    if not isinstance(given, dict):
        given = {"runs-on": given}
    for key, value in given.items():
        if key not in TYPES:
            fail(f"runner {name}: unknown setting {key!r}; expected one of: {', '.join(TYPES)}")
        # In Python, True is an int.
        if not isinstance(value, TYPES[key]) or (isinstance(value, bool) and TYPES[key] is not bool):
            fail(f"runner {name}: {key} has an unexpected type: {json.dumps(value)}")
    settings = {"gpu": False, "container": "", "options": "", "shards": shards, "arguments": ""}
    settings.update(KNOWN.get(name, {}))
    settings.update(given)
    for key in ("runs-on", "backend"):
        if not settings.get(key):
            fail(f"runner {name}: needs {key}")
    if not 1 <= settings["shards"] <= MOST_JOBS:
        fail(f"runner {name}: expected 1 to {MOST_JOBS} shards, got {settings['shards']}")
    return settings


def main():
    runners, shards = sys.argv[1:]
    try:
        runners = json.loads(runners)
    except ValueError as error:
        fail(f"--runners is not JSON: {error}")
    if not isinstance(runners, dict) or not runners:
        fail('--runners: expected an object with at least one runner, such as {"cpu": "ubuntu-latest"}')
    if not shards.isdecimal():
        fail(f"--shards: expected a number, got {shards!r}")
    jobs = []
    for name, given in runners.items():
        settings = settings_of(name, given, int(shards))
        count = settings.pop("shards")
        for index in range(1, count + 1):
            jobs.append({"name": name, "shard": f"{index}/{count}", "part": f"{name}.{index}-of-{count}", **settings})
    if len(jobs) > MOST_JOBS:
        fail(f"{len(jobs)} jobs, but a matrix can have at most {MOST_JOBS}: use fewer shards")
    print(json.dumps({"include": jobs}, separators=(",", ":")))


main()

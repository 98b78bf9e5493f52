# Shared by the scripts of ci/ and .ci/: paths, messages, times. Source it.
# shellcheck shell=bash disable=SC2034  # used by the scripts that source this

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
prefix=${FUTHARK_TOOLCHAIN:-$root/.toolchain}
case $prefix in
/*) ;;
*) prefix=$PWD/$prefix ;;
esac

say() { printf '%s\n' "$*"; }

warn() { printf '%s\n' "$*" >&2; }

# die MESSAGE [EXIT-CODE]
die() {
    warn "${0##*/}: $1"
    exit "${2:-1}"
}

have() { command -v "$1" >/dev/null 2>&1; }

# Microseconds since an arbitrary moment; the decimal mark depends on the locale. Bash before 5
# (macOS) has whole seconds only.
now() {
    if [ -n "${EPOCHREALTIME:-}" ]; then
        printf '%s' "${EPOCHREALTIME/[.,]/}"
    else
        printf '%s' "$((SECONDS * 1000000))"
    fi
}

# since MOMENT: the seconds since then, as "12.3".
since() {
    local tenths=$((($(now) - $1) / 100000))
    printf '%d.%d' "$((tenths / 10))" "$((tenths % 10))"
}

# collect_times: starts to record the times of steps, tests and jobs in a file, one per line:
# seconds, kind, name. If a script that does the same runs this one, both write to one file.
collect_times() {
    owns_times=no
    if [ -z "${STEP_TIMES:-}" ]; then
        STEP_TIMES=$(mktemp)
        export STEP_TIMES
        owns_times=yes
    fi
}

# took SECONDS KIND NAME
took() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"${STEP_TIMES:-/dev/null}"; }

# print_slowest: prints the ten slowest of each kind, at the end of the outermost script.
print_slowest() {
    local kind
    [ "${owns_times:-no}" = yes ] || return 0
    for kind in step test job; do
        grep -q "	$kind	" "$STEP_TIMES" || continue
        printf '\nthe slowest %ss\n' "$kind"
        awk -F '\t' -v kind="$kind" '$2 == kind { printf "%8.1f s  %s\n", $1, $3 }' "$STEP_TIMES" |
            sort -rn | sed -n '1,10p'
    done
    rm -f "$STEP_TIMES"
}

# step TITLE COMMAND...: prints a heading, runs the command, prints the time. If the command fails,
# names the step and exits.
step() {
    local title=$1 start status=0
    shift
    start=$(now)
    printf '\n=== %s\n' "$title"
    "$@" || status=$?
    finish_step "$title" "$(since "$start")" "$status" "$*"
}

# finish_step TITLE SECONDS STATUS COMMAND
finish_step() {
    took "$2" step "$1"
    if [ "$3" -ne 0 ]; then
        warn "=== FAILED: $1 (exit code $3, $2 s)"
        warn "    command: $4"
        print_slowest
        exit "$3"
    fi
    printf '=== %s: ok, %s s\n' "$1" "$2"
}

# with_test_times COMMAND...: runs `cargo test` and records the time of each test binary.
with_test_times() {
    local log status=0
    log=$(mktemp)
    "$@" 2>&1 | tee "$log" || status=$?
    awk -v file="${STEP_TIMES:-/dev/null}" '
        $1 == "Running" && /\(.*\)$/ { name = $0; sub(/^ *Running /, "", name) }
        $1 == "Doc-tests" { name = $0; sub(/^ */, "", name) }
        /^test result: .* finished in / { seconds = $NF; sub(/s$/, "", seconds); printf "%s\ttest\t%s\n", seconds, name >> file }
    ' "$log"
    rm -f "$log"
    return "$status"
}

# record_job_times FILE: records the seconds of each program in each column of a JSON report.
record_job_times() {
    awk -v file="${STEP_TIMES:-/dev/null}" '
        function value(key,   at) {
            at = index($0, "\"" key "\":\"")
            if (!at) return ""
            rest = substr($0, at + length(key) + 4)
            return substr(rest, 1, index(rest, "\"") - 1)
        }
        /^\{"kind":"finished"/ && match($0, /"seconds":[0-9.e-]+\}$/) {
            job = value("program") " on " value("backend") ", " value("device") ", " value("compiler")
            printf "%.1f\tjob\t%s\n", substr($0, RSTART + 10, RLENGTH - 11), job >> file
        }
    ' "$1"
}

# parse_shard I/N: sets $index and $count.
parse_shard() {
    [[ $1 =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ ]] && [ "${BASH_REMATCH[1]}" -le "${BASH_REMATCH[2]}" ] ||
        die "--shard $1: expected I/N with I from 1 to N, such as 1/4" 2
    index=${1%/*} count=${1#*/}
}

# build_conformance: sets $conformance to the program. The gate sets CONFORMANCE_PROGRAM to the one
# that its tests built, and a matrix of runners to the one that its first job built.
build_conformance() {
    conformance=${CONFORMANCE_PROGRAM:-}
    if [ -z "$conformance" ]; then
        cargo build --quiet --release --locked --manifest-path "$root/Cargo.toml" -p futhark-conformance || return
        conformance=${CARGO_TARGET_DIR:-$root/target}/release/futhark-conformance
    fi
}

# ci/setup installs everything but Rust, which only builds our own programs.
need_cargo() {
    [ -n "${CONFORMANCE_PROGRAM:-}" ] || have cargo || die "cargo is not on PATH: install Rust 1.89 or newer (rustup, or your system's package) and run this again"
}

# Loads the environment that ci/setup writes.
load_env() {
    if [ -r "$prefix/env.sh" ]; then
        # shellcheck source=/dev/null
        . "$prefix/env.sh"
    fi
}

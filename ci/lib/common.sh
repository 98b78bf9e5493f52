# Shared by the scripts of ci/ and .ci/: places, messages, times. Source it.
# shellcheck shell=bash disable=SC2034  # for those that source this

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

# Microseconds since some moment, whatever the locale's decimal mark. Bash before
# 5 (macOS) has whole seconds only.
now() {
    if [ -n "${EPOCHREALTIME:-}" ]; then
        printf '%s' "${EPOCHREALTIME/[.,]/}"
    else
        printf '%s' "$((SECONDS * 1000000))"
    fi
}

# since MOMENT: the seconds that have gone by, as "12.3".
since() {
    local tenths=$((($(now) - $1) / 100000))
    printf '%d.%d' "$((tenths / 10))" "$((tenths % 10))"
}

# step TITLE COMMAND...: heading, command, time. A failure names the step.
step() {
    local title=$1 start status=0
    shift
    start=$(now)
    printf '\n=== %s\n' "$title"
    "$@" || status=$?
    if [ "$status" -ne 0 ]; then
        warn "=== FAILED: $title (exit code $status, $(since "$start") s)"
        warn "    command: $*"
        exit "$status"
    fi
    printf '=== %s: ok, %s s\n' "$title" "$(since "$start")"
}

# Rust is the one tool that set-up does not bring: how it is installed is the
# user's choice.
need_cargo() {
    have cargo || die "cargo is not on PATH. Install Rust 1.89 or newer (rustup, or your system's package) and run this again."
}

# Takes the environment that ci/setup has left.
load_env() {
    if [ -r "$prefix/env.sh" ]; then
        # shellcheck source=/dev/null
        . "$prefix/env.sh"
    fi
}

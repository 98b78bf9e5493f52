# Shared by the scripts of ci/ and .ci/: paths, messages, options, steps. Source it.
# shellcheck shell=bash disable=SC2034  # used by the scripts that source this

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
prefix=${FUTHARK_TOOLCHAIN:-$root/.toolchain}
case $target in /*) ;; *) target=$PWD/$target ;; esac
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

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
now() { if [ -n "${EPOCHREALTIME:-}" ]; then printf '%s' "${EPOCHREALTIME/[.,]/}"; else printf '%s' "$((SECONDS * 1000000))"; fi; }

# since MOMENT: the seconds since then, as "12.3".
since() {
    local tenths=$((($(now) - $1) / 100000))
    printf '%d.%d' "$((tenths / 10))" "$((tenths % 10))"
}

# read_options "NAMES" ARGUMENT...: reads the arguments of a script. A name stands for --NAME: `name=` takes a value,
# `name+` also, and may be repeated, `name` takes none. Sets the variable NAME, with _ for -, to the value, to an array
# of the values, or to yes; `arguments` to the others, and to everything after --. The script sets the defaults before.
# For --help it prints the comment at the beginning of the script.
read_options() {
    local known_=" $1 " name_ variable_ # other names than those of options
    shift
    arguments=()
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help)
            sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
            exit 0
            ;;
        --)
            shift
            arguments+=("$@")
            break
            ;;
        --*=*)
            name_=${1%%=*}
            case $known_ in
            *" ${name_#--}="* | *" ${name_#--}+"*) ;;
            *) die "unknown option: $1 (see --help)" 2 ;;
            esac
            set -- "$name_" "${1#*=}" "${@:2}"
            continue
            ;;
        esac
        name_=${1#--}
        variable_=${name_//-/_}
        case $1,$known_ in
        --*,*" $name_ "*) printf -v "$variable_" yes ;;
        --*,*" $name_="* | --*,*" $name_+"*)
            [ $# -ge 2 ] || die "$1 needs a value" 2
            case $known_ in
            *" $name_+ "*) eval "$variable_+=(\"\$2\")" ;;
            *) printf -v "$variable_" '%s' "$2" ;;
            esac
            shift
            ;;
        -*) die "unknown option: $1 (see --help${after_options:-})" 2 ;;
        *) arguments+=("$1") ;;
        esac
        shift
    done
}

# no_arguments: for scripts that take only options.
no_arguments() { [ ${#arguments[@]} -eq 0 ] || die "unexpected argument: ${arguments[0]} (see --help)" 2; }

# step TITLE COMMAND...: prints a heading, runs the command, prints the time. If the command fails, names the step and
# exits.
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

# expect CODE COMMAND...: succeeds if the command ends with this exit code.
expect() {
    local status=0
    "${@:2}" || status=$?
    [ "$status" -eq "$1" ] || { warn "expected exit code $1, got $status: ${*:2}" && return 1; }
}

# The names of the parts of a run, which are in file names.
name_pattern='[a-z0-9][a-z0-9-]*'

# parse_shard I/N: sets $index and $count.
parse_shard() {
    [[ $1 =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ ]] && [ "${BASH_REMATCH[1]}" -le "${BASH_REMATCH[2]}" ] ||
        die "--shard $1: expected I/N with I from 1 to N, such as 1/4" 2
    index=${1%/*} count=${1#*/}
}

# crate_of_template FOLDER: makes a crate from the template, my-crate, beside a link to this repository, as its manifest says.
crate_of_template() {
    rm -rf "$1"
    mkdir -p "$1"
    ln -s "$root" "$1/futhark-rust"
    cp -r "$root/futhark-safe/template" "$1/my-crate"
    printf '\n[workspace]\n' >>"$1/my-crate/Cargo.toml" # The folder can be inside of another workspace.
}

# build_conformance: sets $conformance to the program. The gate sets CONFORMANCE_PROGRAM to the one
# that its tests built, and a matrix of runners to the one that its first job built.
build_conformance() {
    conformance=${CONFORMANCE_PROGRAM:-$target/release/futhark-conformance}
    [ -n "${CONFORMANCE_PROGRAM:-}" ] ||
        cargo build --quiet --release --locked --manifest-path "$root/Cargo.toml" -p futhark-conformance
}

# clippy_and_documentation ARGUMENT...: the arguments select packages, by default those that plain cargo commands build. Cargo
# runs the build scripts of the others again for clippy, which needs the modules of the test programs, but not their libraries.
clippy_and_documentation() {
    FUTHARK_SAFE_FACE_ONLY=1 cargo clippy "$@" --all-targets --all-features --locked -- -D warnings &&
        RUSTDOCFLAGS=-Dwarnings cargo doc "$@" --no-deps --all-features --locked
}

# Fuzzers are workspaces of their own.
check_formatting() {
    cargo fmt --all --check && find futhark-*/fuzz futhark-conformance/writer -name target -prune -o -name '*.rs' -exec rustfmt --check --edition 2024 {} +
}

# check_dependencies CHECK...: checks of cargo-deny. Without network, the crates of all platforms must have been fetched.
check_dependencies() {
    "$root/ci/setup" --prefix "$prefix" --only deny || return
    "$prefix/deny/cargo-deny" --locked check --hide-inclusion-graph "$@"
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

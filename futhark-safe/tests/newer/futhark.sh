#!/bin/sh
# Imitates Futhark 0.27.1: runs an older compiler and changes its output for two programs.
# - elements.fut: adds `new` and `set` of arrays of opaque values, which compilers write since 0.25.36.
# - unary.fut: sums with one variant have no tag.
set -eu
real='@REAL@'
here='@HERE@'
case $1 in
--version)
    # The output is part of the key of builds, so it depends on all added files.
    printf 'Futhark 0.27.1.\nadded: %s\n' "$(cat "$here"/*.* | cksum)"
    "$real" --version
    exit
    ;;
esac
"$real" "$@"
[ "${2-}" = --library ] || exit 0
# `futhark BACKEND --library SOURCE -o BASE`
backend=$1 base=$5
edit() { # FILE COMMAND...: replaces the file by the output of the command
    file=$1
    shift
    "$@" <"$file" >"$file.new"
    mv "$file.new" "$file"
}
case $3 in
*elements.fut)
    # A compiler that is new enough writes these functions itself.
    ! grep -q futhark_set_opaque "$base.h" || exit 0
    edit "$base.json" sed \
        -e 's/"index" *: *"futhark_index_opaque_\([a-z0-9_]*\)"/&,"new":"futhark_new_opaque_\1","set":"futhark_set_opaque_\1"/g' \
        -e 's/"version" *: *"[0-9.]*/"version":"0.27.1./' \
        -e 's/"outputs" *: *\[\({[^}]*}\)\]/"output":\1/g'
    ;;
*unary.fut)
    sed "s/@BACKEND@/$backend/" "$here/unary.json" >"$base.json"
    # The imitation has a function of this name, with one more parameter.
    for file in "$base.h" "$base.c"; do
        edit "$file" sed 's/futhark_new_opaque_holder(/newer_new_holder(/'
    done
    ;;
*) exit 0 ;;
esac
added=$here/$(basename "$3" .fut)
# A function begins with a line of its own.
sed -n -e 's/^int .*)$/&;/p' -e 's/^struct .*)$/&;/p' "$added.c" | cat "$added.h" - >>"$base.h"
cat "$here/arrays.c" "$added.c" >>"$base.c"

#!/bin/sh
# Imitates the arrays of opaque values of Futhark 0.25.36: runs an older compiler and adds the
# functions for elements.fut to its output.
set -eu
real='@REAL@'
here='@HERE@'
case $1 in
--version)
    # The output is part of the key of builds, so it depends on all added files.
    printf 'Futhark 0.25.36.\nadded: %s\n' "$(cat "$here"/elements.* "$here"/futhark.sh | cksum)"
    "$real" --version
    exit
    ;;
esac
"$real" "$@"
[ "${2-}" = --library ] || exit 0
# `futhark BACKEND --library SOURCE -o BASE`
base=$5
cat "$here/elements.h" >>"$base.h"
cat "$here/elements.c" >>"$base.c"
sed -e 's/"index" *: *"futhark_index_opaque_\([a-z0-9_]*\)"/&,"new":"futhark_new_opaque_\1","set":"futhark_set_opaque_\1"/g' \
    -e 's/"version" *: *"[0-9.]*/"version":"0.25.36./' "$base.json" >"$base.json.new"
mv "$base.json.new" "$base.json"

#!/bin/sh
# A compiler of version 0.25.36, as far as arrays of opaque values go: a real, older one runs, and
# what this folder has for the program elements.fut is added to what it wrote.
set -eu
real='@REAL@'
here='@HERE@'
case $1 in
--version)
    # Builds are kept by what this says, so it depends on all that is added.
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

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154,SC2034,SC2016 # of lib.sh; awk's own variables
# The Python package on this build's library, and its examples.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

package=$WEFT_SRCDIR/contrib/python
WEFT_LIBRARY=$WEFT_BUILDDIR/.libs/libweft.so.0
PYTHONPATH=$package PYTHONDONTWRITEBYTECODE=1 WEFT=$weft
export WEFT_LIBRARY PYTHONPATH PYTHONDONTWRITEBYTECODE WEFT WEFT_BUILDDIR

skip() {
	echo "skipped: $1"
	exit 77
}
command -v python3 >/dev/null || skip "python3 is missing"
grep -q "^build_libtool_libs=yes" "$WEFT_BUILDDIR/libtool" ||
	skip "configured without shared libraries"
! grep -q __asan_init "$WEFT_LIBRARY" ||
	skip "python3 is not built with the sanitizer"

# Debian's has the modules that Debian packages, another may not.
python3=python3
for python3 in python3 /usr/bin/python3; do
	pandas=$("$python3" -c 'import pandas; print(pandas.__version__)' \
		2>/dev/null) && break
done

python() {
	"$python3" "$@" >"$work/out" 2>"$work/err"
	code=$?
}

python "$WEFT_SRCDIR/tests/python/abi.py" "$WEFT_SRCDIR"/placement/abi/abi.h \
	"$WEFT_SRCDIR"/topology/fabric.h \
	"$WEFT_SRCDIR"/placement/capacity/occupancy.h
check "the package calls what the headers declare" exits 0
sed 's/uint64_t seed/uint32_t seed/' "$WEFT_SRCDIR/placement/abi/abi.h" \
	>"$work/abi.h"
python "$WEFT_SRCDIR/tests/python/abi.py" "$work/abi.h" \
	"$WEFT_SRCDIR"/topology/fabric.h \
	"$WEFT_SRCDIR"/placement/capacity/occupancy.h
check "another type is found" exits 1
check "it is named" out "weft_abi_plan"

python "$WEFT_SRCDIR/tests/python/package.py" -v
check "the package answers as weft does" exits 0
sed -n 's/^\(test_[a-z_]*\).* skipped \(.*\)/# \1: skipped \2/p' "$work/err"

python "$package/examples/plan.py"
check "the ten lines run" exits 0
check "they name nodes" out "rank 8: n"
check "they predict a step" out "step "
sed -n 's/^    //p' "$package/README.md" | sed -n '/^import weft/,$p' \
	>"$work/readme"
sed '1d; /^$/d' "$package/examples/plan.py" >"$work/example"
check "they are those of the README" cmp "$work/readme" "$work/example"

if [ -z "$pandas" ]; then
	n_cases=$((n_cases + 1))
	echo "ok $n_cases - notebooks # SKIP python3-pandas is missing"
	finish
fi

python "$package/examples/placements.py"
check "two placements of a job are compared" exits 0
check "stages are found in their leafs" grep -qE "leaf1 +0 +32" "$work/out"
check "parts of the steps are told apart" out "exposed_dp_s "
check "the first free nodes cost more" awk \
	'/^cost: / { more = $4 > 1.05 * $2 } END { exit !more }' "$work/out"
python "$package/examples/layouts.py"
check "layouts are swept" exits 0
check "the eight fastest have a row, the fastest first" awk \
	'NR > 1 && NR < 10 { if ($5 < last) exit 1; last = $5; n++ }
	END { exit n != 8 || !last }' "$work/out"
check "a table has the best by tp and pp" grep -qE '^8  *[0-9.]+ +[0-9.]+ +[0-9.]+$' "$work/out"

"$weft" synth --profile roce-llama3 pod:2 leaf:2 node:4 gpu:8 >"$work/f.yaml"
cat >"$work/t.csv" <<'END'
submit_s,duration_s,gpus,job
0,100,64,first
10,50,128,whole
20,10,8,small
END
python "$package/examples/policies.py" "$work/f.yaml" "$work/t.csv"
check "a trace is replayed under policies" exits 0
check "each has a row" [ "$(grep -cE '^(weft|slurm-tree|random) ' "$work/out")" -eq 6 ]
check "random nodes make steps longer" awk \
	'/^random .*steps take/ { longer = $4 > 1.05 } END { exit !longer }' "$work/out"
finish

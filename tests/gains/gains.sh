#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2317 # what check calls
# What weft predicts of published gains does not drift, nor from its manual.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"
manual=$WEFT_SRCDIR/doc/man/weft-gains.7.scd
touch "$work/out" "$work/err"

# holds ROW: what is predicted is within 2 % of golden, or 0.1 if that is more.
holds() {
	jq -s -e --arg id "$1" '.[] | select(.id == $id) |
		((.predicted - .golden) | fabs) <=
			([0.1, 0.02 * (.golden | fabs)] | max)' "$work/rows"
}

# told ROW: the manual has what is published and predicted, and whether that is
# within a third.
told() {
	jq -r --arg id "$1" 'select(.id == $id) |
		def figure: . * 100 | round / 100;
		[.id, (.published | unique | map(tostring) | join("-")),
		(.golden | figure), .unit,
		(if .within_a_third then "yes" else "no" end), .what] |
		join(" ")' "$work/rows" >"$work/wanted"
	grep "^$1 " "$manual" | tr -s ' ' | diff "$work/wanted" -
}

if "$WEFT_SRCDIR/tests/gains/run" --json >"$work/rows" 2>"$work/err"; then
	check "all rows run" true
else
	check "all rows run" false
fi
check "the manual counts them" grep -q "^$(jq -s -r \
	'"\(map(select(.within_a_third)) | length) of \(length)"' \
	"$work/rows") within a third\$" "$manual"
for row in $(jq -r .id "$work/rows"); do
	check "$row: the prediction does not drift" holds "$row"
	check "$row: the manual tells it" told "$row"
done
finish

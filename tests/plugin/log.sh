#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every line that the plugins write into slurmctld's log is on the page that
# tells what it means: by its words up to the first figure.
cd "${WEFT_SRCDIR:-.}" || exit 1
page=doc/man/weft-slurm.8.scd
failed=0
begins=$(sed -n 's/^.*\<\(error\|info\|verbose\|debug2*\)("\(weft: [^"%]*\).*/\2/p' \
	plugin/*.c plugin/limits/*.c plugin/slurm/*.c plugin/submit/*.c plugin/spank/*.c | sed 's/ *$//' | grep -v '^weft:$' | sort -u)
[ "$(echo "$begins" | wc -l)" -gt 10 ] || {
	echo "hardly any line was found: $begins"
	exit 1
}
while read -r words; do
	grep -qF -- "$words" "$page" || {
		echo "$page does not tell what \"$words\" means"
		failed=1
	}
done <<END
$begins
END
exit $failed

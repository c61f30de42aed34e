#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Includes point only downwards: base <- topology <- costmodel <- placement <-
# {plugin, cli}, cli <- lab.  Inside topology/ the fabric <- inventory <- hierarchy
# <- {import, export, audit, draw}, of which slurmctld gets the fabric alone;
# inside costmodel/ job <- traffic <- time <- measured; inside placement/ mapping
# <- bounds <- the rest <- refine <- exact; inside plugin/ bridge <- the side that knows
# Slurm.
cd "${WEFT_SRCDIR:-.}" || exit 1
failed=0

# forbid FOLDER PATTERN WHY: no source in or below FOLDER includes a matching
# header.
forbid() {
	if [ ! -d "$1" ]; then
		echo "$1/ is not there: say where it went"
		failed=1
		return
	fi
	hits=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$2" \
		--include='*.[ch]' "$1")
	[ -z "$hits" ] && return
	echo "$1/ must not include $3:"
	echo "$hits"
	failed=1
}

# forbid_here FOLDER PATTERN WHY: the same for the files of FOLDER alone.
forbid_here() {
	hits=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$2" \
		"$1"/*.[ch])
	[ -z "$hits" ] && return
	echo "$1/ must not include $3:"
	echo "$hits"
	failed=1
}

above='a layer above it'
forbid base '(topology|costmodel|placement|plugin|cli|lab)/' "$above"
forbid topology '(costmodel|placement|plugin|cli|lab)/' "$above"
forbid costmodel '(placement|plugin|cli|lab)/' "$above"
forbid placement '(plugin|cli|lab)/' "$above"
forbid plugin '(cli|lab)/' 'the other front ends'
forbid cli '(plugin|lab)/' 'the other front ends'
forbid lab 'plugin/' 'the other front end'

# What slurmctld does not need.
discovery='topology/(inventory|hierarchy|import|export|audit|draw)/'
forbid_here topology "$discovery" 'what slurmctld does not need'
for folder in costmodel/job costmodel/traffic costmodel/time placement plugin; do
	forbid "$folder" "$discovery" 'what slurmctld does not need'
done

forbid topology/inventory 'topology/(hierarchy|import|export|audit|draw)/' "$above"
forbid topology/hierarchy 'topology/(import|export|audit|draw)/' "$above"
forbid topology/import 'topology/(export|audit|draw)/' 'the other parts'
forbid topology/export 'topology/(import|audit|draw)/' 'the other parts'
forbid topology/audit 'topology/(import|export|draw)/' 'the other parts'
forbid topology/draw 'topology/(import|export|audit)/' 'the other parts'

forbid costmodel/job 'costmodel/(traffic|time|measured)/' "$above"
forbid costmodel/traffic 'costmodel/(time|measured)/' "$above"
forbid costmodel/time 'costmodel/measured/' "$above"

own='placement/(bounds/|exact/|capacity/|nodes/|ranks/|refine/|objective/|[a-z_]*\.h)'
forbid placement/mapping "$own" "$above"
forbid placement/bounds "placement/(exact/|capacity/|nodes/|ranks/|refine/|objective/|[a-z_]*\.h)" \
	"$above"
forbid_here placement 'placement/exact/' "$above"
for folder in capacity nodes ranks refine objective; do
	forbid "placement/$folder" 'placement/exact/' "$above"
done

for folder in capacity nodes ranks objective; do
	forbid "placement/$folder" 'placement/refine/' "$above"
done

forbid plugin/bridge 'plugin/([a-z_0-9]*\.h|limits/|slurm/|submit/|spank/)' \
	'the side that knows Slurm'
for folder in base topology costmodel placement plugin/bridge cli lab; do
	forbid "$folder" '(slurm/|src/)' 'headers of Slurm'
done
for folder in base topology costmodel placement plugin cli lab; do
	forbid "$folder" 'tests/' 'tests'
done

# Names that some release lacks are plugin/compat*'s business, as is the number of
# the release; check-releases finds others.
hits=$(grep -nE 'extern List |CTL_CONF_ASRU|EPLUGIN_|[^_]CR_MEMORY|struct job_details[ ;]' \
	plugin/*.[ch] plugin/limits/*.[ch] plugin/slurm/*.[ch] plugin/submit/*.[ch] plugin/spank/*.[ch] |
	grep -v '^plugin/slurm/compat')
if [ -n "$hits" ]; then
	echo "plugin/ must use what compat.h has for these:"
	echo "$hits"
	failed=1
fi

# A header stands alone: include guard named after its path.
while read -r header; do
	guard=WEFT_$(echo "$header" | tr 'a-z/.' 'A-Z__')
	if ! grep -q "#ifndef $guard" "$header"; then
		echo "$header: include guard is not $guard"
		failed=1
	fi
done <<END
$(find base topology costmodel placement plugin cli lab -name '*.h')
END
exit $failed

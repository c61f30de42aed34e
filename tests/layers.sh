#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Includes point only downwards: base <- topology <- costmodel <- placement <-
# {plugin, cli}; inside topology/ the fabric <- inventory <- hierarchy <- {import, export, audit,
# draw}, of which slurmctld gets the fabric alone; inside placement/ mapping <-
# bounds <- placement/*.c <- {exact, replay}, inside plugin/ bridge <-
# plugin/*.c; Slurm headers are seen in plugin/*.[ch] alone.
cd "${WEFT_SRCDIR:-.}" || exit 1
failed=0

# forbid FOLDER PATTERN WHY: no source in FOLDER includes a matching header.
forbid() {
	hits=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$2" \
		"$1"/*.[ch] 2>/dev/null)
	[ -z "$hits" ] && return
	echo "$1/ must not include $3:"
	echo "$hits"
	failed=1
}

forbid base '(topology|costmodel|placement|plugin|cli)/' 'a layer above it'
forbid topology '(costmodel|placement|plugin|cli)/' 'a layer above it'
discovery='topology/inventory topology/hierarchy topology/import
	topology/import/infiniband topology/import/node topology/import/slurm
	topology/export topology/audit topology/audit/drift topology/draw'
for folder in $discovery; do
	forbid "$folder" '(costmodel|placement|plugin|cli)/' 'a layer above it'
done
for folder in topology costmodel placement; do
	forbid "$folder" 'topology/(hierarchy|import|export|audit|draw)/' \
		'what slurmctld does not need'
done
forbid topology 'topology/inventory/' 'what slurmctld does not need'
for folder in plugin plugin/bridge; do
	forbid "$folder" 'topology/(inventory|hierarchy|import|export|audit|draw)/' \
		'what slurmctld does not need'
done
forbid topology/inventory 'topology/(hierarchy|import|export|audit|draw)/' \
	'a part above it'
forbid topology/hierarchy 'topology/(import|export|audit|draw)/' 'a part above it'
for folder in topology/import topology/import/*/; do
	forbid "${folder%/}" 'topology/(export|audit|draw)/' 'the other parts'
done
forbid topology/export 'topology/(import|audit|draw)/' 'the other parts'
for folder in topology/audit topology/audit/drift; do
	forbid "$folder" 'topology/(import|export|draw)/' 'the other parts'
done
forbid topology/draw 'topology/(import|export|audit)/' 'the other parts'
forbid costmodel '(placement|plugin|cli)/' 'a layer above it'
parts='placement placement/mapping placement/bounds placement/exact
	placement/replay'
for folder in $parts; do
	forbid "$folder" '(plugin|cli)/' 'a layer above it'
done
forbid placement/mapping 'placement/(bounds/|exact/|replay/|[a-z_]*\.h)' \
	'a part above it'
forbid placement/bounds 'placement/(exact/|replay/|[a-z_]*\.h)' \
	'a part above it'
forbid placement 'placement/(exact|replay)/' 'a part above it'
forbid placement/exact 'placement/replay/' 'the other part'
forbid placement/replay 'placement/exact/' 'the other part'
forbid plugin 'cli/' 'the other front end'
forbid plugin/bridge 'cli/' 'the other front end'
forbid plugin/bridge 'plugin/[a-z_0-9]*\.h' 'the side that knows Slurm'
forbid cli 'plugin/' 'the other front end'
for folder in base topology $discovery costmodel $parts plugin/bridge cli; do
	forbid "$folder" '(slurm/|src/)' 'headers of Slurm'
	forbid "$folder" 'tests/' 'tests'
done
forbid plugin 'tests/' 'tests'

# Names that some release lacks are plugin/compat*'s business, as is the number of
# the release; check-releases finds others.
hits=$(grep -nE 'extern List |CTL_CONF_ASRU|EPLUGIN_|[^_]CR_MEMORY|struct job_details[ ;]' \
	plugin/*.[ch] | grep -v '^plugin/compat')
if [ -n "$hits" ]; then
	echo "plugin/ must use what compat.h has for these:"
	echo "$hits"
	failed=1
fi

# A header stands alone: include guard named after its path.
for header in base/*.h topology/*.h topology/*/*.h costmodel/*.h placement/*.h placement/*/*.h \
	plugin/*.h plugin/*/*.h cli/*.h; do
	[ -e "$header" ] || continue
	guard=WEFT_$(echo "$header" | tr 'a-z/.' 'A-Z__')
	if ! grep -q "#ifndef $guard" "$header"; then
		echo "$header: include guard is not $guard"
		failed=1
	fi
done
exit $failed

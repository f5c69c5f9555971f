#!/bin/sh
# A scan in parts by a worker on each of these hosts (docs/CLUSTER.md). DIR and ROOT have the same names on all of them.
#
#     parts-ssh.sh DIR ROOT HOST...
set -eu
dir=$1 root=$2
shift 2
# The remote shell takes a line.
quoted() { printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }
dents parts start -x -- "$dir" "$root"
for host; do
    ${SSH:-ssh} "$host" "sh -s $(quoted "$dir")" <"$(dirname "$0")/parts-worker.sh" &
done
wait
dents parts verify "$dir"
dents parts merge "$dir"

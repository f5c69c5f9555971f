#!/bin/sh
# One worker of a scan in parts: runs tasks until all are committed (docs/CLUSTER.md).
#
#     parts-worker.sh DIR [OPTION of dents scan]...
#
# AGAIN: a task that was claimed so long ago and is not committed is run again: its worker may have died.
set -u
dir=$1
shift
while task=$(dents parts claim --again "${AGAIN:-20m}" "$dir"); do
    read -r id _ waiting <<EOF
$task
EOF
    # While few directories wait, short tasks give other workers something to do.
    if [ "$waiting" -lt 100 ]; then budget=50000; else budget=2000000; fi
    dents scan --part "$dir" --task "$id" --budget "$budget" --time-budget 5m "$@"
done

#!/bin/sh
# One worker of a scan in parts: runs tasks until all are committed (docs/CLUSTER.md). The exit status is 0 then, and otherwise that of the
# command that failed.
#
#     parts-worker.sh DIR [OPTION of dents scan]...
#
# AGAIN: a task that was claimed so long ago and is not committed is run again: its worker may have died.
set -u
dir=$1
shift
while
    task=$(dents parts claim --again "${AGAIN:-20m}" "$dir")
    claim=$?
    [ $claim = 0 ]
do
    read -r id _ waiting <<EOF
$task
EOF
    # While few directories wait, short tasks give other workers something to do.
    if [ "$waiting" -lt 100 ]; then budget=50000; else budget=2000000; fi
    dents scan --part "$dir" --task "$id" --budget "$budget" --time-budget 5m "$@"
    scan=$?
    case $scan in
    # 1: a directory could not be read, which is in the result; or the task is not committed, and some worker runs it again.
    0 | 1) ;;
    *)
        echo "parts-worker.sh: dents scan --part ended with status $scan" >&2
        exit $scan
        ;;
    esac
done
# 1: all tasks are committed. No failure has this status.
[ $claim = 1 ] && exit 0
echo "parts-worker.sh: dents parts claim failed with status $claim" >&2
exit $claim

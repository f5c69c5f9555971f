# NFS server and client on one loopback, 1 ms each way (DELAY): requests of dls beside those of GNU ls, counted by the client.
#
# Each run has a fresh mount, so that nothing is cached. Requests are what /proc/self/mountstats counts; the ACL requests of NFS 3 are
# of another program, which it does not count.
files=${FILES:-1500}
more=3 # requests that dls may make more than GNU ls

mkdir -p /tmp/export/dir /tmp/export/tree
mount -t tmpfs export /tmp/export
mkdir /tmp/export/dir /tmp/export/tree
(cd /tmp/export/dir && seq -f 'file-number-%g' "$files" | xargs touch && chmod +x file-number-1*)
setfacl -m u:1:rwx /tmp/export/dir/file-number-7 || exit 77
mkdir /tmp/export/small && (cd /tmp/export/small && seq 10 | xargs touch)
(cd /tmp/export/tree && for d in $(seq 75); do mkdir "dir$d" && (cd "dir$d" && seq 32 | xargs touch); done)
modprobe nfsd && mount -t nfsd nfsd /proc/fs/nfsd
mkdir -p /var/lib/nfs/v4recovery /run/rpcbind
rpcbind && rpc.mountd && rpc.nfsd 8 || exit 77
exportfs -o rw,no_root_squash,fsid=1,insecure '*:/tmp/export' || exit 77
modprobe sch_netem && tc qdisc add dev lo root netem delay ${DELAY:-1ms} || exit 77

# Each kind of request that was made, and how often; without those that every mount makes.
requests() {
    awk '/^device/ { here = $5 == "/mnt"; ops = 0 } here && ops && $2 { print $1 $2 } here && /per-op/ { ops = 1 }' /proc/self/mountstats |
        grep -vE '^(NULL|FSINFO|PATHCONF|SERVER_CAPS|EXCHANGE_ID|CREATE_SESSION|RECLAIM_COMPLETE|BIND_CONN_TO_SESSION|SEQUENCE):'
}

# run VERSION PROGRAM ARGUMENT...: leaves the output in /tmp/PROGRAM, sets `ops`, `total` and `seconds`.
run() {
    local version=$1 program=$2 began ended
    shift
    mount -t nfs -o "vers=$version,proto=tcp" localhost:/tmp/export /mnt || exit 77
    began=$(date +%s%N)
    # No terminal: there dls would show its progress, and a hint that costs a request.
    "$@" >"/tmp/out-${program##*/}" 2>/tmp/errors
    ended=$(date +%s%N)
    ops=$(requests | tr '\n' ' ')
    total=$(requests | awk -F: '{ total += $2 } END { print total + 0 }')
    seconds=$(awk "BEGIN { printf \"%.2f\", ($ended - $began) / 1e9 }")
    umount /mnt
    cat /tmp/errors
}

failed=0
# compare LIMIT VERSION ARGUMENT...: dls may make LIMIT requests more than GNU ls, or any number if LIMIT is "any". Requests are
# counted up to three times: on a busy machine, an answer from memory may take as long as a round trip.
compare() {
    local limit=$1 version=$2 gnu verdict try
    shift 2
    run "$version" ls "$@"
    gnu=$total
    printf '| %s | %s | GNU ls | %s | %s | %s|\n' "$version" "$*" "$total" "$seconds" "$ops"
    for try in 1 2 3; do
        run "$version" /job/dls "$@"
        verdict=same
        cmp -s /tmp/out-ls /tmp/out-dls || verdict='DIFFERENT BYTES'
        [ "$limit" = any ] || [ "$total" -le $((gnu + limit)) ] || verdict="$verdict, TOO MANY"
        printf '| %s | %s | dls | %s | %s | %s| %s\n' "$version" "$*" "$total" "$seconds" "$ops" "$verdict"
        [ "$verdict" != same ] || return 0
    done
    failed=1
}

# -l makes at most one GETACL a file (which NFS 3 does not count), and no LISTXATTRS. On a machine so slow that attributes expire
# meanwhile, after three seconds, each may be fetched once more. One file has an ACL. GNU ls takes minutes for it, so it runs only if LONG is set.
long() {
    local version=$1
    if [ -n "$LONG" ]; then
        compare $((files + more)) "$version" -l /mnt/dir
        return
    fi
    run "$version" /job/dls -l /mnt/dir
    printf '| %s | -l /mnt/dir | dls | %s | %s | %s|\n' "$version" "$total" "$seconds" "$ops"
    [ "$total" -le $((2 * files + 20)) ] && [[ $ops != *LISTXATTRS* ]] &&
        [ "$(grep -c '^[^ ]*+ .*file-number-7$' /tmp/out-dls)" = 1 ] && [ "$(grep -c '^[^ ]*+' /tmp/out-dls)" = 1 ] || failed=1
}

# at_most LIMIT VERSION PROGRAM ARGUMENT...: the program makes at most LIMIT requests.
at_most() {
    local limit=$1 version=$2 verdict=
    shift 2
    run "$version" "$@"
    [ "$total" -le "$limit" ] || verdict="TOO MANY, $limit" failed=1
    printf '| %s | %s | %s | %s | %s | %s| %s\n' "$version" "${*:2}" "${1##*/}" "$total" "$seconds" "$ops" "$verdict"
}

# What costs a request a file if it is done wrong: names with attributes come in as many replies as for GNU ls --color.
in_turns() {
    local version=$1 names
    run "$version" ls --color=always /mnt/dir
    names=$((total + more))
    at_most $names "$version" /job/dls -l --acl=never /mnt/dir
    at_most $names "$version" /job/dls -l --acl=auto /mnt/dir
    at_most $names "$version" /job/dls --color=always --timeout=9s /mnt/dir
    cmp -s /tmp/out-ls /tmp/out-dls || { echo 'DIFFERENT BYTES with --timeout'; failed=1; }
    # A GETACL a file, and one list of attributes, which shows that this is NFS 4.
    at_most 18 "$version" /job/dls -l /mnt/small
}

echo "kernel $(uname -r), $(ls --version | head -1), $files files, a tree of 75 directories and 2,400 files, ${DELAY:-1ms} each way"
echo '| NFS | arguments | program | requests | seconds | kinds |'
echo '|---|---|---|--:|--:|---|'

# Requests of dls beside those of GNU ls, for the jobs cifs, sshfs and 9p. Server and client are on one loopback, 1 ms each way.
#
# A job defines `mounted` and `unmounted`, which mount the server's files on /mnt and unmount them, and `requests`, which prints each
# kind of request since the mount and how often it was made, as KIND:COUNT. Each run has a fresh mount, so that nothing is cached.
files=${FILES:-1500}
more=3 # requests that dls may make more than GNU ls

mount -t tmpfs files /srv
mkdir /srv/dir /srv/tree
(cd /srv/dir && seq -f 'file-number-%g' "$files" | xargs touch && chmod +x file-number-1*)
(cd /srv/tree && for d in $(seq 75); do mkdir "dir$d" && (cd "dir$d" && seq 32 | xargs touch); done)

# Requests take 1 ms each way from now on. The servers start faster without.
delay() {
    modprobe sch_netem && tc qdisc add dev lo root netem delay 1ms || exit 77
}

# run PROGRAM ARGUMENT...: leaves the output in /tmp/out-PROGRAM, sets `kinds`, `total` and `seconds`.
run() {
    local program=$1 began ended
    mounted || exit 77
    began=$(date +%s%N)
    # No terminal: there dls would show its progress, and a hint that costs a request.
    "$@" >"/tmp/out-${program##*/}" 2>/tmp/errors
    ended=$(date +%s%N)
    kinds=$(requests | tr '\n' ' ')
    total=$(tr ' ' '\n' <<<"$kinds" | awk -F: '{ total += $2 } END { print total + 0 }')
    seconds=$(awk "BEGIN { printf \"%.2f\", ($ended - $began) / 1e9 }")
    unmounted
    cat /tmp/errors
}

failed=0
# compare LIMIT ARGUMENT...: dls may make LIMIT requests more than GNU ls, or any number if LIMIT is "any". Requests are counted up to
# three times: on a busy machine, an answer from memory may take as long as a round trip.
compare() {
    local limit=$1 gnu verdict try
    shift
    run ls "$@"
    gnu=$total
    printf '| %s | GNU ls | %s | %s | %s|\n' "$*" "$total" "$seconds" "$kinds"
    for try in 1 2 3; do
        run /job/dls "$@"
        verdict=same
        cmp -s /tmp/out-ls /tmp/out-dls || verdict='DIFFERENT BYTES'
        [ "$limit" = any ] || [ "$total" -le $((gnu + limit)) ] || verdict="$verdict, TOO MANY"
        printf '| %s | dls | %s | %s | %s| %s\n' "$*" "$total" "$seconds" "$kinds" "$verdict"
        [ "$verdict" != same ] || return 0
    done
    failed=1
}

# table SERVER
table() {
    echo "kernel $(uname -r), $1, $(ls --version | head -1), $files files, a tree of 75 directories and 2,400 files"
    echo '| arguments | program | requests | seconds | kinds |'
    echo '|---|---|--:|--:|---|'
    for option in '' --color=always -F -s; do
        compare $more $option /mnt/dir
    done
    compare ${LONG:-any} -l /mnt/dir
    compare 75 -R --color=always /mnt/tree
    compare ${LONG_TREE:-any} -lR /mnt/tree
}

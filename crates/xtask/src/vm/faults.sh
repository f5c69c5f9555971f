# Faults of a real NFS server, with kernel's server and client on one loopback. The server is "stopped" (its threads end, and it refuses
# connections) or "lost" (no packet arrives), before a listing or in the middle of it, and comes back later.
#
# One row for each trial: what it took, its status, its lines of output, those with unknown metadata, and what it said.
files=300
late=2000 # ms that a listing with --timeout=1s may take. 1,200 on a machine that is not emulated

mkdir -p /tmp/near /tmp/far /var/lib/nfs/v4recovery /run/rpcbind /srv/files
(cd /tmp/near && seq -f 'near-%g' 20 | xargs touch)
mount -t tmpfs files /srv/files
mkdir -m 700 /srv/files/dir /srv/files/tree /srv/files/private
(cd /srv/files/dir && seq -f 'file-number-%g' $files | xargs touch)
(cd /srv/files/tree && for d in $(seq 40); do mkdir "dir$d" && (cd "dir$d" && seq 10 | xargs touch); done)
mount --mkdir -t tmpfs -o size=64k full /srv/full

modprobe nfsd && modprobe sch_netem && mount -t nfsd nfsd /proc/fs/nfsd || exit 77
export_files() {
    exportfs -o rw,fsid=1,insecure,no_root_squash '*:/srv/files'
}
# Clients may reclaim locks for as long as this after a start, and nothing is opened meanwhile.
echo 10 >/proc/fs/nfsd/nfsv4leasetime
echo 10 >/proc/fs/nfsd/nfsv4gracetime
rpcbind && rpc.mountd && rpc.nfsd 8 && export_files && exportfs -o rw,fsid=2,insecure,no_root_squash '*:/srv/full' || exit 77

# fault stopped|lost, or fault slow DELAY
fault() {
    case $1 in
    stopped) rpc.nfsd 0 ;;
    lost) tc qdisc replace dev lo root netem loss 100% ;;
    slow) tc qdisc replace dev lo root netem delay "$2" ;;
    esac
}

repair() {
    tc qdisc del dev lo root 2>/dev/null
    rpc.nfsd 8
}

# mounted VERSION soft|hard [PATH]
mounted() {
    mount -t nfs -o "vers=$1,proto=tcp,$2,timeo=10,retrans=2" "localhost:${3:-/srv/files}" /tmp/far
}

unmounted() {
    umount /tmp/far 2>/dev/null || { sleep 1 && umount -f -l /tmp/far; }
}

now() {
    date +%s%3N
}

failed=0
echo '| NFS | mount | fault | command | ms | status | lines | unknown | said | |'
echo '|---|---|---|---|--:|--:|--:|--:|---|---|'

# judged TEST MESSAGE...: adds the verdict of a test to `verdict`.
judged() {
    local test=$1
    shift
    eval "$test" || { verdict="$verdict $*" && failed=1; }
}

# tried COMMAND...: runs it, and sets `took`, `status`, `lines`, `unknown` and `said`.
tried() {
    local began=$(now)
    timeout -s KILL 100 "$@" >/tmp/out 2>/tmp/said
    status=$?
    took=$(($(now) - began))
    counted
}

counted() {
    lines=$(grep -c . /tmp/out)
    unknown=$(grep -c '?????????' /tmp/out)
    # Many lines are alike: the first three, and how many there are.
    said="$(head -3 /tmp/said | tr '\n|' ';/')"
    [ "$(wc -l </tmp/said)" -le 3 ] || said="$said… $(wc -l </tmp/said) lines"
    verdict=
}

# row VERSION HOW FAULT COMMAND
row() {
    echo "| $1 | $2 | $3 | $4 | $took | $status | $lines | $unknown | ${said%;} |$verdict |"
}

# A listing with --timeout: the other operand is complete, and it ends in time.
timeout_before() {
    mounted "$1" "$2" || exit 77
    fault "$3"
    tried /job/dls --timeout=1s -l /tmp/near /tmp/far/dir
    judged '[ $took -le $late ]' TOO LATE
    judged '[ $status = 1 ] || [ $status = 2 ]' STATUS
    judged '[ "$(grep -c near- /tmp/out)" = 20 ]' LINES ARE MISSING
    judged 'grep -q "within 1s" /tmp/said' NOT SAID
    row "$1" "$2" "$3 before" 'dls --timeout=1s -l near far'
    repair
    unmounted
}

# The server answers slowly and goes away in the middle, after two thirds of the time that the same listing took before. Each name that
# was read is listed.
timeout_within() {
    local try
    for try in 1 2 3; do
        mounted "$1" "$2" || exit 77
        fault slow 50ms
        tried /job/dls -l /tmp/near /tmp/far/dir
        unmounted
        mounted "$1" "$2" || exit 77
        (sleep "$(awk "BEGIN { print $took / 1500 / $try }")" && fault "$3") &
        tried /job/dls --timeout=2s -l /tmp/near /tmp/far/dir
        wait %% 2>/dev/null
        # This listing may be so much faster than the one before that it ends before the fault.
        [ $status = 0 ] || break
        repair
        unmounted
    done
    judged '[ $took -le $((late + 1000)) ]' TOO LATE
    judged '[ $status = 1 ] || [ $status = 2 ]' STATUS
    judged '[ "$(grep -c near- /tmp/out)" = 20 ]' LINES ARE MISSING
    judged 'grep -q "within 2s" /tmp/said' NOT SAID
    row "$1" "$2" "$3 within" 'dls --timeout=2s -l near far'
    repair
    unmounted
}

# Without a timeout. A hard mount waits for the server, and the listing is complete; a soft one fails.
outage() {
    mounted "$1" "$2" || exit 77
    fault slow 20ms
    (sleep 0.7 && fault "$3" && sleep 6 && repair) &
    tried /job/dls -lR /tmp/far/tree
    wait
    if [ "$2" = hard ]; then
        judged '[ $status = 0 ]' STATUS
        judged '[ "$(grep -c " dir[0-9]*$" /tmp/out)" = 40 ] && [ "$(grep -c "^-" /tmp/out)" = 400 ]' LINES ARE MISSING
    fi
    row "$1" "$2" "$3 for 6 s" 'dls -lR far'
    unmounted
}

# Ctrl-C on a terminal, while the server is away: the terminal has its settings again.
interrupt() {
    mounted "$1" "$2" || exit 77
    cat >/tmp/typed <<'END'
trap : INT
stty -g
date +%s%3N >/tmp/began
/job/dls -l --color=always /tmp/near /tmp/far/dir
echo "status $? $(date +%s%3N)"
stty -g
END
    fault "$3"
    { sleep 4 && date +%s%3N >/tmp/pressed && printf '\003' && sleep 5; } |
        timeout -s KILL 60 script -qec 'bash /tmp/typed' /tmp/typescript >/dev/null
    tr -d '\r' </tmp/typescript | grep -v '^Script' >/tmp/out
    status=$(grep -ao 'status [0-9]*' /tmp/out | cut -d' ' -f2)
    took=$(($(grep -ao 'status [0-9 ]*' /tmp/out | cut -d' ' -f3) - $(cat /tmp/pressed)))
    : >/tmp/said
    grep -a '^.*dls: ' /tmp/out | sed 's/.*\(dls: \)/\1/' >/tmp/said
    counted
    judged '[ "$status" = 130 ]' STATUS
    judged '[ $took -le $late ]' TOO LATE
    judged '[ "$(grep -aoE "([0-9a-f]+:){10,}[0-9a-f]+" /tmp/out | sort | uniq -c | awk "{ print \$1 }")" = 2 ]' TERMINAL CHANGED
    row "$1" "$2" "$3 before" 'dls -l near far, Ctrl-C'
    repair
    unmounted
}

# Signals to a listing without a terminal, while the server is away: what was listed until then is there.
killed() {
    local signal number pid began
    mounted "$1" "$2" || exit 77
    fault "$3"
    for signal in INT:2 TERM:15 KILL:9; do
        number=${signal#*:} signal=${signal%:*}
        # In the background of a script, SIGINT would be ignored.
        env --default-signal=INT /job/dls -l /tmp/near /tmp/far/dir >/tmp/out 2>/tmp/said &
        pid=$!
        sleep 3
        began=$(now)
        kill -"$signal" $pid
        wait $pid
        status=$? took=$(($(now) - began))
        counted
        judged '[ $status = $((128 + number)) ]' STATUS
        judged '[ $took -le $late ]' TOO LATE
        row "$1" "$2" "$3 before" "dls -l near far, SIG$signal"
    done
    repair
    unmounted
}

# The server no longer exports the directory: as with GNU ls. The first listing drops what the client remembers.
withdrawn() {
    local gnu gnu_status
    mounted "$1" "$2" || exit 77
    exportfs -u '*:/srv/files' && exportfs -f
    ls -l /tmp/far/dir >/dev/null 2>&1
    tried ls -l /tmp/far/dir
    gnu=$(sed 's|^ls: ||' /tmp/said) gnu_status=$status
    row "$1" "$2" withdrawn 'GNU ls -l far'
    tried /job/dls -l /tmp/far/dir
    judged '[ $status = $gnu_status ]' STATUS
    judged '[ "$(sed "s|^dls: ||" /tmp/said)" = "$gnu" ]' MESSAGE
    row "$1" "$2" withdrawn 'dls -l far'
    tried /job/dents scan -o /tmp/scan.parquet /tmp/far/tree
    judged '[ $status = 1 ] && [ ! -e /tmp/scan.parquet ]' STATUS
    row "$1" "$2" withdrawn 'dents scan -o FILE far'
    export_files
    unmounted
}

# What dents writes on a server whose disk is full: status 1, the reason, and no file that looks complete.
full() {
    local command
    mounted "$1" "$2" /srv/full || exit 77
    for command in 'scan -o /tmp/far/rows.parquet' 'scan -o /tmp/far/rows.sqlite' 'scan -o /tmp/far/rows.ndjson' \
        'scan --journal /tmp/far/journal -o /tmp/rows.ndjson'; do
        tried /job/dents $command /usr
        judged '[ $status = 1 ]' STATUS
        # A journal has no error of its own: the client sends it later.
        judged 'grep -qE "No space left on device|may be full: free some space" /tmp/said' NOT SAID
        judged '[ ! -e /tmp/far/rows.${command##*.} ] && [ ! -e /tmp/rows.${command##*.} ]' FILE IS LEFT
        row "$1" "$2" 'disk full' "dents $command"
        rm -rf /tmp/far/* /tmp/rows.*
    done
    /job/dents parts start -- /tmp/far/parts /usr/share
    task=$(/job/dents parts claim /tmp/far/parts | cut -d' ' -f1)
    tried /job/dents scan --part /tmp/far/parts --task "$task"
    judged '[ $status = 1 ] && grep -q "No space left on device" /tmp/said' STATUS
    row "$1" "$2" 'disk full' 'dents scan --part far'
    tried /job/dents parts status /tmp/far/parts
    row "$1" "$2" 'disk full' "dents parts status: $(tail -1 /tmp/out)"
    rm -rf /tmp/far/*
    unmounted
}

# A listing into a file on a server with 4 KiB left: the client sends it when the file is closed, so `write` succeeds.
redirected() {
    local command
    mounted "$1" "$2" /srv/full || exit 77
    for command in 'ls -l' '/job/dls -l' '/job/dents scan'; do
        head -c 60000 /dev/zero >/tmp/far/fill
        tried bash -c "$command /usr/bin >/tmp/far/list"
        judged '[ $status != 0 ] && grep -q "No space left on device" /tmp/said' STATUS
        row "$1" "$2" 'disk full' "$command /usr/bin >far/list"
        rm -f /tmp/far/*
    done
    unmounted
}

# The server takes root for nobody.
squashed() {
    local gnu
    exportfs -u '*:/srv/files'
    exportfs -o rw,fsid=1,insecure,root_squash '*:/srv/files'
    mounted "$1" "$2" || exit 77
    tried ls -l /tmp/far/private /tmp/far
    gnu=$(sed 's|^ls: ||' /tmp/said)
    cp /tmp/out /tmp/gnu
    tried /job/dls -l /tmp/far/private /tmp/far
    judged '[ "$(sed "s|^dls: ||" /tmp/said)" = "$gnu" ] && cmp -s /tmp/out /tmp/gnu' "NOT AS GNU: $(tr '\n' ';' <<<"$gnu")"
    row "$1" "$2" squashed 'dls -l far/private far'
    tried /job/dents scan -o /tmp/far/dir/rows.parquet /tmp/near
    judged '[ $status = 1 ] && grep -q "Permission denied" /tmp/said' STATUS
    row "$1" "$2" squashed 'dents scan -o far/dir/rows.parquet'
    exportfs -u '*:/srv/files'
    export_files
    unmounted
}

for version in ${VERSIONS:-4.2 3}; do
    for how in hard soft; do
        for fault in stopped lost; do
            timeout_before $version $how $fault
            timeout_within $version $how $fault
            outage $version $how $fault
        done
    done
    interrupt $version hard stopped
    interrupt $version hard lost
    killed $version hard stopped
    killed $version hard lost
    withdrawn $version hard
    full $version hard
    redirected $version hard
    squashed $version hard
done
exit $failed

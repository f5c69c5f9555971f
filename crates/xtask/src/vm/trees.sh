# Trees on NFS, beside GNU ls, find and du: at most their requests and one for each directory.

# beside PROGRAM ARGUMENT... -- PROGRAM ARGUMENT...: the second makes at most as many requests as the first and one for each directory.
beside() {
    local version=$1 theirs=()
    shift
    while [ "$1" != -- ]; do
        theirs+=("$1")
        shift
    done
    shift
    run "$version" "${theirs[@]}"
    printf '| %s | %s | %s | %s | %s | %s|\n' "$version" "${theirs[*]:1}" "${theirs[0]}" "$total" "$seconds" "$ops"
    at_most $((total + 75)) "$version" "$@"
}

# The Python module beside os. It is there once the Python tests have built it.
cat >/tmp/sum.py <<'END'
import importlib, sys
module = importlib.import_module(sys.argv[1])
if sys.argv[2] == "scandir":
    more = {"stat": True} if sys.argv[1] == "dents" else {}
    print(sum(entry.stat(follow_symlinks=False).st_size for entry in module.scandir("/mnt/dir", **more)))
else:
    print(sum(len(files) for _, _, files in module.walk("/mnt/tree")))
END
export PYTHONPATH=/job/module PYTHONDONTWRITEBYTECODE=1
of_python() {
    local function
    for function in scandir walk; do
        beside "$1" python3 /tmp/sum.py os $function -- python3 /tmp/sum.py dents $function
    done
}

# The requests of -R, and an ACL for each entry: no lists of attributes. On a busy machine each entry's attributes may expire, and are
# fetched once more.
marked_tree() {
    local others
    at_most $((2 * 2475 + 231)) "$1" /job/dls --tree -l /mnt/tree
    others=$(tr ' ' '\n' <<<"$ops" | grep -v '^GETATTR:' | awk -F: '{ total += $2 } END { print total }')
    [ "$others" -le $((2475 + 231)) ] || { echo "TOO MANY beside GETATTR: $others" && failed=1; }
}

for version in ${VERSIONS:-4.2 3}; do
    compare 75 "$version" -R /mnt/tree
    compare 75 "$version" -lR /mnt/tree
    marked_tree "$version"
    beside "$version" du -s /mnt/tree -- /job/dents du -s /mnt/tree
    beside "$version" du -s /mnt/dir -- /job/dents du -s /mnt/dir
    beside "$version" find /mnt/tree -- /job/dents scan /mnt/tree
    beside "$version" find /mnt/tree -size +9 -- /job/dents scan --size +9 /mnt/tree
    beside "$version" find /mnt/tree -printf '%p %s %u\n' -- /job/dents scan --printf '%p %s %u\n' /mnt/tree
    [ ! -d /job/module ] || of_python "$version"
done
exit $failed

# Single directories on NFS, and one tree.
for version in ${VERSIONS:-4.2 3}; do
    for option in '' --color=always -F -s; do
        compare $more "$version" $option /mnt/dir
    done
    long "$version"
    in_turns "$version"
    compare 75 "$version" -R --color=always /mnt/tree
done
exit $failed

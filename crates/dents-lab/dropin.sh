#!/bin/bash
# dls in the place of ls, dir and vdir: a shell session of everyday uses, each compared with GNU's, then a package
# from source with its configure script, built twice, once under each, and the two logs compared.
#
#   dropin.sh DLS [PACKAGE]     DLS: the release binary. PACKAGE: a Debian source package, `hello` if not given; `-` for
#                               the session alone. Needs root and the network for the package; not part of CI.
set -u
dls=$(realpath "$1") package=${2:-hello}
work=$(mktemp -d) || exit
trap '[ "${KEEP:-}" ] || rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/play"
for name in ls dir vdir; do ln -s "$dls" "$work/bin/$name"; done
# Sorted by bytes, and no colours or styles from the user's own settings.
unset LS_COLORS QUOTING_STYLE TIME_STYLE BLOCK_SIZE LS_BLOCK_SIZE BLOCKSIZE
export LC_ALL=C.UTF-8
failed=0 passed=0

populate() {
    cd "$work/play" || exit
    mkdir -p src/lib doc 'with space' .git
    for n in 1 2 3 10 11; do echo "$n" > "file$n.txt"; touch -d "2024-01-$n" "file$n.txt"; done
    printf '#!/bin/sh\n' > run.sh; chmod +x run.sh
    ln -s file1.txt link; ln -s nowhere dangling; touch -- -dash '*star' $'new\nline' 'it'\''s' .hidden src/{a,b}.c
    touch -d 2020-02-29 src doc 'with space' .git . 2>/dev/null
    mkdir many; (cd many && seq -f 'n%05g' 20000 | xargs touch)
}

# One use, as a script would have it, under both.
session() {
    while IFS= read -r line; do
        case $line in ''|'#'*) continue ;; esac
        expected=$(PATH=$PATH bash -c "$line" 2>&1; echo "status $?")
        actual=$(PATH=$work/bin:$PATH bash -c "$line" 2>&1; echo "status $?")
        if [ "$expected" = "$actual" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            printf 'DIFFERENT: %s\n' "$line"
            diff <(printf '%s\n' "$expected") <(printf '%s\n' "$actual") | head -10
        fi
    done
}

everyday() {
    session <<'USES'
ls
ls -l | tail -n +2 | awk '{print $5, $9}'
ls | wc -l
ls many | wc -l
ls -t | head -1
ls many | head -1; echo "${PIPESTATUS[@]}"
set -o pipefail; ls -l many | head -1
ls -d */
ls -dp -- *
for f in $(ls *.txt); do printf '<%s>' "$f"; done
ls -1 > ../out; cat ../out; rm ../out
ls -lt --time-style=+%s *.txt
find . -maxdepth 1 -name '*.txt' -exec ls -ld {} +
find . -maxdepth 1 -print0 | xargs -0 ls -d
printf '%s\0' *.txt | xargs -0 -n1 ls -1
ls -A | while read -r name; do printf '%s|' "$name"; done
ls -1v
ls --sort=version -r
test -n "$(ls -A doc)" || echo empty
[ "$(ls -A src)" ] && echo full
ls nothing-here || echo failed
ls nothing-here 2>/dev/null; echo $?
ls -l dangling link
ls -L link dangling; echo $?
ls -li file1.txt | awk '{print NF}'
ls -Rl src doc
ls -laF --group-directories-first | cut -c1-10
ls -S many | tail -1
ls -r | head -3
ls -m
ls -x -w 60
ls -C -w 60 --color=always
ls -Q
ls -b
ls -q
ls -N
ls --zero | tr '\0' '\n' | sort
ls --quoting-style=shell-escape
eval "for f in $(ls --quoting-style=shell-always | tr '\n' ' '); do printf '<%s>' \"\$f\"; done"
ls --hide='*.txt'
ls -I '*.txt' -B
ls -sk many | head -1
ls -lh --si run.sh
ls -n | head -1
ls -gG --full-time *.txt
ls --block-size=1 -s run.sh
cd src && ls ..
ls . src
ls -- -dash
ls ./-dash
dir
dir -l src
vdir src
vdir --time-style=long-iso *.txt
\ls; command ls -d .
env ls -d .
ls -la /proc/self/fd >/dev/null; echo $?
ls -ld / /etc /usr/bin
ls /dev/null /dev/tty
ls -l /dev/null | cut -d' ' -f1-6
ls --nonsense; echo $?
ls -%; echo $?
ls --color=auto | cat -v
ls -ltr --time=ctime | wc -l
files=(*); [ ${#files[@]} -eq "$(ls -b | wc -l)" ] && echo same
ls -U | sort
ls -f | sort
ls many/n0000* | tail -2
ls -d many/* | wc -l
bash -c 'compgen -G "*"' | wc -l
make -s -f <(printf 'all:\n\t@ls *.txt; ls src | wc -l\n')
perl -e 'print `ls -1`; print scalar(split /\n/, `ls -l`), "\n"'
python3 -c 'import subprocess; print(subprocess.run(["ls", "-l", "src"], capture_output=True))'
awk 'BEGIN { while (("ls -a" | getline line) > 0) n++; print n }'
tar cf - $(ls *.txt) | tar tf -
cp $(ls file*.txt) doc/ && ls doc && rm doc/*
rm -f $(ls -t doc/*.txt 2>/dev/null | tail -n +3); ls doc
exec ls src
USES
}

# The checksums of what a build installs, and its log.
build() {
    # At the same path both times: paths end up in programs and logs.
    mkdir "$work/build" && cd "$work/build" && cp -a "$work/source/." . || exit
    {
        ./configure --prefix=/usr && make && make check && make install DESTDIR="$work/build/root"
        echo "status $?"
    } > "$work/$1.log" 2>&1
    tail -n1 "$work/$1.log"
    (cd "$work/build/root" && find . -type f -perm /111 -exec sha256sum {} + | sort -k2) > "$work/$1.sums"
    cd "$work" && rm -rf "$work/build"
}

package() {
    mkdir "$work/source" "$work/download" && cd "$work/download" || exit
    cp /etc/apt/sources.list.d/debian.sources "$work/binary.sources" 2>/dev/null
    sed 's/^Types:.*/Types: deb-src/' "$work/binary.sources" > "$work/source.sources"
    local apt=(-o "Dir::Etc::sourcelist=$work/source.sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists")
    mkdir -p "$work/lists/partial"
    chmod 755 "$work"; chmod 777 "$work/download"
    apt-get "${apt[@]}" -qq update && apt-get "${apt[@]}" -qq --download-only source "$package" || exit
    tar xf "$(printf "%s\n" ./*.orig.tar.* | grep -v "\.asc$")" -C "$work/source" --strip-components=1 || exit
    echo "building $package under GNU ls"
    build gnu
    echo "the same under dls"
    PATH=$work/bin:$PATH build dls
    if tail -n1 "$work/gnu.log" | grep -qx "status 0" && diff "$work/gnu.sums" "$work/dls.sums" && diff "$work/gnu.log" "$work/dls.log"; then
        echo "same programs, same log ($(wc -l < "$work/dls.log") lines)"
    else
        failed=$((failed + 1))
    fi
}

populate
everyday
echo "session: $passed same, $failed different"
[ "$package" = - ] || package
exit $((failed > 0))


# What does not depend on the options. bash splits words at `=`, unless the user has taken it out of COMP_WORDBREAKS: both are met.
_@PROGRAM@() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= option= prefix= words= word list=
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        # Behind it there are only files.
        [[ $word == -- ]] && return
        case "$command $word" in
            @COMMANDS@) command=${command:+$command-}$word ;;
        esac
    done
    if [[ $cur == = ]]; then
        option=$prev cur=
    elif [[ $prev == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $cur == --*=* ]]; then
        option=${cur%%=*} prefix=${cur%%=*}= cur=${cur#*=}
    elif [[ $prev =~ ^-[^-@LETTERS@]*[@LETTERS@]$ ]]; then
        option=-${prev: -1}
    else
        case $prev in
            @REQUIRED@) option=$prev ;;
        esac
    fi
    case "$command $option" in
@VALUES@
        *) option= ;;
    esac
    if [[ ! $option ]]; then
        case $command,$cur in
@OPTIONS@
        esac
    fi
    if [[ $list ]]; then
        # What stands before the last comma, and a sign, stays.
        [[ $cur =~ ^(.*,)?[-+]? ]]
        prefix+=${BASH_REMATCH[0]} cur=${cur:${#BASH_REMATCH[0]}}
        compopt -o nospace 2>/dev/null
    fi
    while IFS= read -r word; do
        COMPREPLY+=("$prefix$word")
        if [[ $word == *= ]]; then compopt -o nospace 2>/dev/null; fi
    done < <(compgen -W "$words" -- "$cur")
    # Nothing so far: bash goes on with names of files.
}

complete -o bashdefault -o default -F _@PROGRAM@ @PROGRAM@

#!/bin/sh
# A hook of git-afd: ends at once where no upgrade runs, else starts the check. `git afd hooks install` fills in the
# three lines below; a hook that stood here before is kept beside this one as STAGE.afd-chained and runs as ever.
stage=@STAGE@
python=@PYTHON@
site=@SITE@
chained=${0%/*}/$stage.afd-chained
begin='import sys; sys.path.append(sys.argv[1]); from git_afd.hook import run; run(sys.argv[2], sys.argv[3:])'

# Replaces this process by the check.
check() {
    what=$1
    shift
    if [ -x "$python" ] && [ -f "$site/git_afd/hook/__init__.py" ]; then
        exec "$python" -I -S -X utf8 -c "$begin" "$site" "$what" "$@"
    fi
    if command -v git-afd-hook >/dev/null 2>&1; then
        exec git-afd-hook "$what" "$@"
    fi
    echo "git-afd: the $stage hook's Python moved ($python); run 'git afd hooks install', or go past it with --no-verify" >&2
    exit 1
}

# Says whether the hook that stood here before is to run; not when it is already running and called us.
chains() {
    [ -x "$chained" ] || return 1
    case "|${GIT_AFD_CHAINED-}|" in *"|$PWD:$chained|"*) return 1 ;; esac
    GIT_AFD_CHAINED="${GIT_AFD_CHAINED-}|$PWD:$chained"
    export GIT_AFD_CHAINED
}

# Finds this worktree's git dir and the common one; fails when in doubt.
locate() {
    if [ -n "${GIT_DIR-}" ]; then
        dir=$GIT_DIR
    elif [ -d .git ]; then
        dir=.git
    elif [ -f .git ]; then
        IFS= read -r dir <.git
        case $dir in 'gitdir: '*) dir=${dir#gitdir: } ;; *) return 1 ;; esac
    else
        return 1
    fi
    common=${GIT_COMMON_DIR-$dir}
    if [ -z "${GIT_COMMON_DIR-}" ] && [ -f "$dir/commondir" ]; then
        IFS= read -r common <"$dir/commondir"
        case $common in /*) ;; *) common=$dir/$common ;; esac
    fi
    [ -f "$dir/HEAD" ] && [ ! -L "$dir/HEAD" ] && [ -f "$common/config" ]
}

# Says whether a commit here is certainly none of our business; any doubt is answered by Python.
idle_commit() {
    if ! locate || [ -e "$dir/afd-handoff" ] || [ -e "$dir/afd-intent" ]; then return 1; fi
    IFS= read -r head <"$dir/HEAD"
    case $head in
        'ref: refs/heads/.invalid') return 1 ;; # the refs are stored in another way
        'ref: refs/heads/'*) branch=${head#ref: refs/heads/} ;;
        *[!0-9a-f]* | '') return 1 ;;
        *) return 0 ;; # detached: a rebase, judged by push and audit
    esac
    # branch.NAME.afd in the repository's own configuration. A section that might be ours in another spelling
    # counts as ours.
    ours=1 sticky=0 count=0
    while read -r line || [ -n "$line" ]; do
        count=$((count + 1))
        [ "$count" -le 400 ] || return 1
        case $line in *\\) sticky=1 ;; esac # the next line may not be what it looks like
        case $line in
            '[branch "'*[\"\\]*'"]') ours=1 ;;
            '[branch "'*'"]') if [ "$line" = "[branch \"$branch\"]" ]; then ours=1; else ours=$sticky; fi ;;
            '['[bB][rR]*) ours=1 ;;
            '['*']'*[!\ ]* | '['*\\*) ours=1 ;; # something follows the header on its line
            '['*) ours=$sticky ;;
        esac
        if [ "$ours" = 1 ]; then
            case $line in
                [aA][fF][dD] | [aA][fF][dD][!a-zA-Z0-9-]* | '['*[aA][fF][dD]*) return 1 ;;
            esac
        fi
    done <"$common/config"
    return 0
}

# Says whether no push can reach an upgrade's commit: there is no ledger, and nothing of ours ever wrote here.
idle_push() {
    if ! locate || [ -e "$common/afd" ] || [ -e "$common/refs/notes/afd" ] || [ -e "$common/reftable" ]; then
        return 1
    fi
    [ -f "$common/packed-refs" ] || return 0
    count=0
    while IFS= read -r line || [ -n "$line" ]; do
        count=$((count + 1))
        [ "$count" -le 400 ] || return 1
        case $line in *' refs/notes/afd/'*) return 1 ;; esac
    done <"$common/packed-refs"
    return 0
}

[ -z "${GIT_AFD_PROBE-}" ] || check probe "$stage"
case $stage in
    pre-commit)
        if ! idle_commit; then
            if ! chains; then check pre-commit "$@"; fi
            (check pre-commit "$@") || exit
            exec "$chained" "$@"
        fi
        if chains; then exec "$chained" "$@"; fi
        ;;
    commit-msg) # the chained hook first: what is judged is the message as it will be
        if chains; then "$chained" "$@" || exit; fi
        idle_commit || check commit-msg "$@"
        ;;
    pre-push) # what git says on standard input is read once and said again to each
        if ! idle_push; then
            if ! chains; then check pre-push "$@"; fi
            refs=$(cat && echo .) && refs=${refs%.}
            printf %s "$refs" | (check pre-push "$@") || exit
            printf %s "$refs" | "$chained" "$@" || exit
        elif chains; then
            exec "$chained" "$@"
        fi
        ;;
esac

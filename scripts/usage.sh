# shellcheck shell=sh
# Sourced by the scripts in this folder, before they change the current directory.
#
# usage [ARGUMENT...] prints the end of the script's first comment, from the line "usage: …", and ends the script. If
# the first ARGUMENT is --help, the exit status is 0. Otherwise the script does not accept its arguments: the text is
# written to standard error, after the ARGUMENTs, and the exit status is 2.
script=$(cd "$(dirname "$0")" && pwd)/${0##*/}
usage() {
    status=0
    case ${1:-} in
    -h | --help) ;;
    *)
        status=2
        exec >&2
        [ $# = 0 ] || echo "${0##*/}: unexpected arguments: $*"
        ;;
    esac
    sed -n '/^# usage: /,/^[^#]/s/^# \{0,1\}//p' "$script"
    exit $status
}

# Starts one server in the current folder and ends it when its last keeper has gone.
#
#   $1  FIFO that the keepers hold open for writing; empty: the one keeper holds a pipe to standard input
#   $2  signal that ends the server when the last keeper has gone: TERM or KILL
#   $3  folder to remove after that, or empty
#   $4… the server's command line
#
# Standard output gets one line: the server's process id. What is on standard input stays open in the server as
# well, so a lock on that file is held exactly as long as anything started here lives.

life=$1 signal=$2 sweep=$3
shift 3

# When a keeper dies and the server happens to be stopped, the system sends a hang-up to the whole group.
trap '' HUP

[ -z "$life" ] || { rm -f -- "$life" && mkfifo -m 600 -- "$life"; } || exit 1

# A shell gives a background command an empty standard input, unless it is told otherwise.
exec 3<&0
"$@" <&3 >>server.log 2>&1 &
server=$!
echo "$server"
exec >/dev/null

(
    [ -z "$life" ] || exec 3<"$life"
    # End of file comes when the last writer has gone. A line is a newcomer's question whether this is still being
    # watched: after the answer it can not be missed, for it is a writer by then.
    while read -r _ <&3; do : >"$life.heard"; done
    # From here on the answer to "did the keeper go?" is yes, even if the server's end is noticed first.
    trap '' TERM
    kill -s "$signal" "$server"
    # A stopped server sees the signal when it goes on.
    kill -s CONT "$server"
    exit 7
) 2>/dev/null &
watch=$!

wait "$server"
kill "$watch" 2>/dev/null
wait "$watch"
[ $? -ne 7 ] || [ -z "$sweep" ] || rm -rf -- "$sweep"
[ -z "$life" ] || rm -f -- "$life" "$life.heard"

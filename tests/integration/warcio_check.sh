#!/bin/sh
# Has another tool read our archives: warcio (npm) must index every file given without a word of complaint, no record id
# may occur twice in all of them, and the records must fill each file from its first byte to its last.
#   tests/integration/warcio_check.sh FILE.warc.gz...
# warcio is installed once, into build/cache/warcio (override: WARCIO_CACHE).
# Exit: 0 well, 1 a complaint, 2 cannot check.
set -u

say() { echo "warcio_check: $*" >&2; }

[ $# -gt 0 ] || { say "usage: $0 FILE.warc.gz..."; exit 2; }
root=$(cd "$(dirname "$0")/../.." && pwd)
cache=${WARCIO_CACHE:-$root/build/cache/warcio}
warcio=$cache/node_modules/.bin/warcio
command -v npm >/dev/null || { say "npm is not installed (apt-get install npm)"; exit 2; }

if [ ! -x "$warcio" ]; then
  mkdir -p "$cache" || exit 2
  say "installing warcio into $cache"
  npm install --no-save --no-audit --no-fund --prefix "$cache" warcio@2 >"$cache/install.log" 2>&1 || {
    tail -5 "$cache/install.log" >&2
    say "npm could not install warcio"
    exit 2
  }
fi

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
bad=0
complain() { say "$*"; bad=1; }
: >"$work/ids"
for file in "$@"; do
  [ -s "$file" ] || { complain "$file: missing or empty"; continue; }
  if ! "$warcio" index "$file" --fields warc-record-id,warc-type,offset,length >"$work/index" 2>"$work/stderr"; then
    complain "$file: warcio failed"
  fi
  if [ -s "$work/stderr" ]; then
    complain "$file: warcio complains:"
    head -20 "$work/stderr" >&2
  fi
  [ -s "$work/index" ] || complain "$file: warcio found no record"
  head -1 "$work/index" | grep -q '"warc-type":"warcinfo"' || complain "$file: does not begin with a warcinfo record"
  # Members side by side from first to last byte: offsets and lengths add up to the file.
  end=$(tail -1 "$work/index" | sed -n 's/.*"offset":"\{0,1\}\([0-9]*\)"\{0,1\},"length":"\{0,1\}\([0-9]*\).*/\1 \2/p' |
    awk '{ printf "%d", $1 + $2 }')
  size=$(wc -c <"$file")
  [ "$end" = "$((size))" ] || complain "$file: the records end at ${end:-nowhere}, the file at $((size))"
  sed -n 's/.*"warc-record-id":"\([^"]*\)".*/\1/p' "$work/index" >"$work/these"
  [ "$(wc -l <"$work/these")" = "$(wc -l <"$work/index")" ] || complain "$file: a record without an id"
  cat "$work/these" >>"$work/ids"
done
sort "$work/ids" | uniq -d >"$work/twice"
if [ -s "$work/twice" ]; then
  complain "record ids that occur twice:"
  head -5 "$work/twice" >&2
fi
[ $bad = 0 ] && say "$# files, $(wc -l <"$work/ids") records, no complaint"
exit $bad

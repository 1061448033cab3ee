# shellcheck shell=bash
# What the scripts of deploy/ share. Sourced, not run.

# shellcheck disable=SC2034  # for the scripts that source this
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Progress goes to standard error, so that standard output stays for results.
say() { printf '==> %s\n' "$*" >&2; }

# die CAUSE FIX
die() {
  printf 'error: %s\n' "$1" >&2
  if [ $# -gt 1 ]; then printf 'fix: %s\n' "$2" >&2; fi
  exit 1
}

# Prints the comment at the head of the calling script: its help.
help_from_head() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p;}' "$0"; }

# As many compilers as there are processors, and as there is memory for: the largest files take about 1.5 GB each.
build_jobs() {
  local cpus available by_memory
  cpus=$(nproc)
  available=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo)
  by_memory=$((${available:-1536} / 1536))
  if [ "$by_memory" -lt 1 ]; then by_memory=1; fi
  if [ "$by_memory" -lt "$cpus" ]; then echo "$by_memory"; else echo "$cpus"; fi
}

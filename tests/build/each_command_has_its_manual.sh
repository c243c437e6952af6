#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What --help says and what the manual says are the same: each command has a page with the same options (a subcommand a
# section of it), and stands in hotset(1) and in the README; each schema that is printed is in a document, and each flag in
# docs/schemas.md.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/build.sh release hotset
hotset=build/hotset
wrong=0
complain() {
  echo "$*"
  wrong=1
}

# Options by their long names; what every command has is left out.
of_help() { "$hotset" "$@" --help | grep -o -E '^ +(-[A-Za-z],)? *(-[A-Za-z], *)?--[a-z][a-z-]*' | grep -o -e '--[a-z-]*' |
  grep -v -x -e --help | sort -u; }
subcommands() { "$hotset" "$@" --help | sed -n '/^Subcommands:/,$s/^  \([a-z]*\) .*/\1/p'; }
# Bold print is a letter, a backspace and the letter again.
page() { mandoc -T ascii "docs/man/hotset-$1.1" | sed 's/.\x08//g'; }
# A subsection of a page: from its title to the next one.
section() { awk -v title="$1" '/^ ? ? ?[A-Za-z]/ { inside = ($0 ~ "^ +" title "$") } inside'; }
names() { grep -o -E -e '--[a-z][a-z-]+' | sort -u; }

# same_options TEXT COMMAND…
same_options() {
  local text=$1
  shift
  missing=$(comm -23 <(of_help "$@") <(names <<<"$text"))
  [ -z "$missing" ] || complain "not in the manual of $*: ${missing//$'\n'/ }"
  # Examples name options of other commands; a line that begins with one describes it.
  extra=$(comm -13 <(of_help "$@") <(grep -E '^ +-' <<<"$text" | names))
  [ -z "$extra" ] || complain "only in the manual of $*: ${extra//$'\n'/ }"
}

commands=$(subcommands)
[ "$(wc -w <<<"$commands")" -ge 8 ] || complain "--help tells of too few commands: $commands"
for command in $commands; do
  if [ ! -s "docs/man/hotset-$command.1" ]; then
    complain "$command has no manual page"
    continue
  fi
  parts=$(subcommands "$command")
  [ -n "$parts" ] || same_options "$(page "$command")" "$command"
  for part in $parts; do
    text=$(page "$command" | section "hotset $command $part")
    [ -n "$text" ] || complain "$command $part has no section of its own in the manual page"
    same_options "$text" "$command" "$part"
  done
  grep -q -x -F ".It Cm $command" docs/man/hotset.1 || complain "$command is not in hotset(1)"
  grep -q -F "\`hotset $command" README.md || complain "$command is not in README.md"
done

for schema in $(grep -r -h -o -E '"hotset\.[a-z_]+/[0-9]+"' src | tr -d '"' | sort -u); do
  grep -q -F "$schema" docs/*.md || complain "the schema $schema is in no document"
done
flags=$(grep -r -h -A 1 -E 'flags?\.push_back\(|flag\(|Flag\{' src/estimate |
  grep -o -E '(push_back\(\{|flag\(|Flag\{|^ +\{)"[a-z_]+"' | grep -o -E '[a-z_]+"$' | tr -d '"' | sort -u)
[ "$(wc -w <<<"$flags")" -ge 20 ] || complain "too few flags are found in the source: $flags"
for flag in $flags; do
  grep -q -F "\`$flag\`" docs/schemas.md || complain "the flag $flag is not in docs/schemas.md"
done
exit "$wrong"

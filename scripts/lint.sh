#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# lint.sh [CHECK…]: what a machine can see of the quality of the source; one result a check.
#
#   format  layout of C, C++ and BPF code (clang-format)    tidy  static analysis (clang-tidy)
#   shell   shell scripts (shellcheck)                      man   manual pages (mandoc)
#   rules   the house rules of CONTRIBUTING.md that can be checked
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/results.sh
source scripts/results.sh

# Files of the project by pattern: what git knows, and what is new and not ignored.
ours() { git -c safe.directory='*' ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
  [ ! -f "$file" ] || echo "$file"
done; }

shell_scripts() {
  ours run .ci/run '*.sh'
  ours 'dist/*' 'scripts/*' | while read -r file; do
    if head -n 1 "$file" | grep -q '^#!.*sh$'; then echo "$file"; fi
  done
}

format() { ours '*.h' '*.c' '*.cpp' | xargs clang-format-19 --dry-run -Werror; }

tidy() {
  scripts/build.sh tidy hotset_generated
  scripts/tidy.py build/tidy
}

shell() { shell_scripts | sort -u | xargs shellcheck --external-sources; }

man() {
  # What is left out on purpose: a date of the file's last change, pages of other packages and whether this machine's
  # index has them, and lines of more than 80 bytes: ours have 120, as everywhere.
  local left_out='STYLE: (referenced manual not found|input text line longer|.*date)|outdated mandoc.db'
  ours 'docs/man/*.1' | xargs mandoc -T lint -W style 2>&1 | grep -v -E "$left_out" >&2 || return 0
  return 1
}

fits_400_lines() {
  local long
  long=$(ours '*.h' '*.c' '*.cpp' '*.sh' '*.py' '*.awk' '*.cmake' '*.js' run | xargs wc -l | awk '$2 != "total" && $1 > 400')
  [ -z "$long" ] || { echo "more than 400 lines:"; echo "$long"; return 1; }
}

has_a_licence_line() {
  local bare
  bare=$(ours '*.h' '*.c' '*.cpp' '*.sh' '*.py' '*.awk' '*.cmake' '*CMakeLists.txt' '*.js' '*.css' '*.html' run .ci/run |
    while read -r file; do head -n 5 "$file" | grep -q 'SPDX-License-Identifier: ' || echo "$file"; done)
  [ -z "$bare" ] || { echo "no SPDX-License-Identifier in its first five lines:"; echo "$bare"; return 1; }
}

# Folders that exist on one machine only, unless a test or a document means them.
names_no_machine_path() {
  ! ours | xargs grep -n -I -E '(^|[^A-Za-z0-9_.])/(work|home/[a-z]+|tmp/wt|root/[a-z])(/|\b)' -- || return 1
}

leaves_nothing_undone() {
  ! ours '*.h' '*.c' '*.cpp' '*.sh' '*.py' '*.awk' '*.cmake' '*CMakeLists.txt' '*.js' run | grep -v -x scripts/lint.sh |
    xargs grep -n -E '\b(TODO|FIXME|XXX|HACK)\b' || return 1
}

rules() {
  local rule
  for rule in fits_400_lines has_a_licence_line names_no_machine_path leaves_nothing_undone; do
    check "lint.every file $rule" "$rule"
  done
}

checks=("$@")
[ $# -gt 0 ] || checks=(rules format shell man tidy)
for name in "${checks[@]}"; do
  case $name in
    rules) rules ;;
    format | tidy | shell | man) check "lint.$name" "$name" ;;
    *)
      echo "lint: there is no check $name" >&2
      exit 2
      ;;
  esac
done
summary

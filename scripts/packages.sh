#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh GROUP…: installs what packages.txt lists for the groups and this machine lacks.
#
# The package manager is asked only what is missing, and only when something is does it touch the network: the second
# time takes a tenth of a second.
set -euo pipefail
table=$(dirname "$0")/packages.txt

fail() { echo "setup: $*" >&2; exit 1; }

wanted() { # the packages of the groups, each once
  awk -v groups=" $* " '!/^#/ && NF && index(groups, " " $1 " ") && !seen[$2]++ { print $2 }' "$table"
}

missing() { # of the packages named on stdin, those that are not installed
  local installed
  installed=$(dpkg-query --show --showformat '${db:Status-Abbrev}${Package}\n' | sed -n 's/^ii *//p')
  grep --line-regexp --fixed-strings --invert-match --file=<(echo "$installed") || true
}

command -v dpkg-query >/dev/null || fail "this is not Debian: install what $table lists, then run cmake --preset release"
list=$(wanted "$@" | missing)
[ -n "$list" ] || exit 0
# shellcheck disable=SC2086 # one argument a package
set -- $list

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || fail "packages are missing and we are not root; as root: apt-get install $*"
  as_root=(sudo)
fi
echo "setup: installing $# packages: $*"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "${as_root[@]}" "$@" >"$log" 2>&1 || { cat "$log" >&2; fail "failed: $*"; }; }
# A server that comes for the tests is started by them, and by nobody else.
policy=/usr/sbin/policy-rc.d
if [ "$(id -u)" = 0 ] && [ ! -e "$policy" ]; then
  trap 'rm -f "$log" "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
quietly apt-get -q update
quietly apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fresh.sh [VERB [ARG…]]: proves that ./run VERB works as the first command on a new Debian 12.
#
# A minimal Debian is unpacked below /var/tmp from this machine's own mirror, what is committed here is cloned into it,
# and the verb runs there in a chroot. All mounts are made in a mount namespace of our own, which ends with us: nothing
# has to be cleaned up, however this ends. The kernel is the machine's: it is set-up that is proven, not isolation.
set -euo pipefail
suite=bookworm
source=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || set -- test

if [ "${HOTSET_FRESH_ROOT-}" = "" ]; then
  [ "$(id -u)" = 0 ] || { echo "fresh: a chroot needs root" >&2; exit 4; }
  HOTSET_FRESH_ROOT=$(mktemp -d /var/tmp/hotset-fresh.XXXXXX)
  export HOTSET_FRESH_ROOT
  trap 'rm -rf --one-file-system "$HOTSET_FRESH_ROOT"' EXIT
  unshare --mount --propagation private "$0" "$@"
  exit
fi
root=$HOTSET_FRESH_ROOT

# The mirror that carries the suite here, and every source of the suite for the new system: updates and security too.
sources=$(apt-get indextargets --format "deb \$(SITE) \$(RELEASE) \$(COMPONENT)" 'Created-By: Packages' |
  awk -v suite="$suite" '$3 ~ "^" suite' | sort -u)
mirror=$(awk -v suite="$suite" '$3 == suite { print $2; exit }' <<<"$sources")
[ -n "$mirror" ] || { echo "fresh: no apt source of this machine carries $suite; run apt-get update" >&2; exit 5; }

echo "fresh: unpacking a minimal Debian $suite"
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
rm -f "$root.log"

# What belongs to the machine's network and not to a Debian: where packages come from, whom to trust, which proxy.
echo "$sources" >"$root/etc/apt/sources.list"
apt-config dump Acquire >"$root/etc/apt/apt.conf.d/99machine"
mkdir -p "$root/etc/ssl/certs" "$root/usr/local/share"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp -a /usr/local/share/ca-certificates "$root/usr/local/share/" 2>/dev/null || true
cp /etc/pip.conf "$root/etc/" 2>/dev/null || true
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
mapfile -t network < <(env | grep -E '^(PIP|SSL|CURL|REQUESTS|GIT_SSL|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY)' |
  grep -v '^PIP_FIND_LINKS=')

git -c safe.directory='*' clone --quiet --no-hardlinks "$source" "$root/srv/hotset"
for tree in proc sys dev; do
  mount --rbind "/$tree" "$root/$tree"
  mount --make-rslave "$root/$tree"
done

echo "fresh: ./run $*"
begin=$SECONDS code=0
env -i "${network[@]}" HOME=/root TERM="${TERM-dumb}" LANG=C.UTF-8 \
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  chroot "$root" /bin/bash -c 'cd /srv/hotset && exec "$@"' bash ./run "$@" || code=$?
echo "fresh: ./run $* ended with $code after $((SECONDS - begin)) s"
exit "$code"

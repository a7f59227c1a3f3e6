#!/bin/sh
# Change the secret that signs players' tokens, and send nobody home: three rounds, and after each of them
# gateways and rooms are started anew (docs/operations.md, “Rotate secrets”).  Works in secrets/ (or SNATCH_SECRETS).
#
#     deploy/rotate-secret.sh begin    a new one is read, the old one signs
#     deploy/rotate-secret.sh swap     the new one signs, the old one is read
#     deploy/rotate-secret.sh end      the old one is worth nothing any more
set -eu
umask 077
cd "${SNATCH_SECRETS:-$(dirname "$0")/../secrets}"
signs=snatch_secret reads=snatch_secret_also doing=snatch_secret_round

# Whole or not at all, and readable by the containers' user, as deploy/make-secrets.sh leaves them.
put() {
  cat >"$1.new"
  chmod 444 "$1.new"
  mv -f "$1.new" "$1"
}
after() { # what the round before was
  last=$(cat "$doing" 2>/dev/null || echo end)
  [ "$last" = "$1" ] || { echo "✗ the last round was $last: this one comes after $1" >&2; exit 1; }
}

case ${1:-} in
  begin)
    after end
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n' | put "$reads"
    ;;
  swap)
    after begin
    old=$(cat "$signs") new=$(cat "$reads")
    # In this order: cut short in between, the old one is in both, and nothing is lost but the change.
    printf %s "$old" | put "$reads"
    printf %s "$new" | put "$signs"
    ;;
  end)
    after swap
    put "$reads" </dev/null
    ;;
  *)
    echo "begin, swap or end?" >&2
    exit 2
    ;;
esac
echo "$1" | put "$doing"
echo "now start gateways and rooms anew, and wait until all of them are"
[ "$1" != swap ] || echo "the last round not before tomorrow: it sends home whoever came in before this one"

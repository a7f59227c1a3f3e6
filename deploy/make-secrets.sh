#!/bin/sh
# Write what nobody else may know into secrets/ (or SNATCH_SECRETS), a file each.  What is there stays as it is.
#
# Nobody but you may enter the folder.  The files in it can be read by whoever is given them: that is
# user 10001 of the containers that docker-compose.yml names, and needs no root to be so.
set -eu
umask 077
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${SNATCH_SECRETS:-$root/secrets}
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"
made=0

# Whole or not at all: no half-written file outlives a full disk.
put() {
  cat >"$1.new"
  chmod 444 "$1.new"
  mv -f "$1.new" "$1"
}
new() {
  if [ ! -s "$1" ]; then
    made=$((made + 1))
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n' | put "$1"
  fi
}

# One that an older .env has goes on to count: another would send everybody home.
if [ ! -s snatch_secret ] && [ -f "$root/.env" ]; then
  old=$(sed -n 's/^SNATCH_SECRET=//p' "$root/.env")
  [ -z "$old" ] || printf %s "$old" | put snatch_secret
fi

# Settings go where secrets do by default.  An older .env doesn't name the project, which was called that.
if [ -z "${SNATCH_SECRETS:-}" ]; then
  [ -f "$root/.env" ] || cp "$root/.env.example" "$root/.env"
  grep -q '^COMPOSE_PROJECT_NAME=' "$root/.env" || echo COMPOSE_PROJECT_NAME=snatch >>"$root/.env"
fi

# What containers are shown of this clone they must be able to read, whatever your umask is; it may be somebody else's.
(cd "$root/deploy" && chmod -R go+rX caddy grafana nats prometheus 2>/dev/null) || true

new snatch_secret
# Read beside the other while that is changed (docs/operations.md); empty at all other times.
[ -e snatch_secret_also ] || put snatch_secret_also </dev/null
for user in gateway watch rooms engine bots setup observer route; do new "nats_$user"; done
for user in rooms copy operator; do new "redis_$user"; done
new grafana_admin

# The same, as the servers read it.
{
  for user in gateway watch rooms engine bots setup observer; do
    echo "NATS_$(echo "$user" | tr '[:lower:]' '[:upper:]'): \"$(cat "nats_$user")\""
  done
} | put nats_passwords
{
  echo "NATS_ROUTE: \"$(cat nats_route)\""
  for server in 1 2 3; do
    echo "NATS_ROUTE_$server: \"nats://route:$(cat nats_route)@nats-$server:6222\""
  done
} | put nats_routes
{
  # Nobody can be this one, but Redis is it as it reads its file at a start: transactions that it may not
  # do would be left out, without a word.
  echo "user default off ~* &* +@all"
  # Whoever has no password may ask whether it is there, no more.
  echo "user probe on nopass resetkeys resetchannels -@all +ping"
  echo "user rooms on >$(cat redis_rooms) resetchannels -@all" \
    "~room:* ~rooms:due ~made:* ~probe:* ~workers:*" \
    "+get +set +del +exists +mget +zadd +zrem +zcard +zscan +zrangebyscore +hset +hmget +pexpire +time" \
    "+eval +evalsha +script|load +multi +exec +ping +select"
  # A second server that copies the first; and whoever mends them: docs/operations.md.
  echo "user copy on >$(cat redis_copy) resetchannels -@all +psync +replconf +ping"
  echo "user operator on >$(cat redis_operator) ~* &* +@all"
} | put redis_users
{
  echo "masteruser copy"
  echo "masterauth $(cat redis_copy)"
} | put redis_copy_of
echo "$made new secrets in $(pwd)"

#!/bin/bash
# Release what .env's SNATCH_BUILD names while people play: each service's new containers come
# up beside the old ones, which then end one by one and hand over what they hold.
#
#     SNATCH_BUILD=2026-11-30 docker compose build && SNATCH_BUILD=2026-11-30 deploy/release.sh
set -euo pipefail
cd "$(dirname "$0")/.."

images=$(docker compose config --images)

there() { # service: its containers, a line each
  docker compose ps --quiet "$1"
}

outdated() { # service: those of another image than the one that is named now
  local image
  image=$(docker image inspect --format '{{.Id}}' "$(grep "^snatch-$1:" <<<"$images")")
  there "$1" | xargs docker inspect --format '{{.Id}} {{.Image}}' | awk -v image="$image" '$2 != image { print $1 }'
}

until_well() { # service: as soon as all of it is healthy; after two minutes say so and end
  for _ in $(seq 240); do
    there "$1" | xargs docker inspect --format '{{.State.Health.Status}}' | grep -qvx healthy || return 0
    sleep 0.5
  done
  echo "✗ $1 does not get healthy: docker compose logs $1" >&2
  echo "→ old and new run side by side; mend it and run this again, or run it with the old SNATCH_BUILD" >&2
  exit 1
}

docker compose run --rm --no-deps setup
scales=()
for service in engine rooms bots watch gateway; do
  mapfile -t old < <(outdated "$service")
  now=$(there "$service" | wc -l)
  beside=$((2 * ${#old[@]} > now ? 2 * ${#old[@]} : now))
  docker compose up --detach --no-deps --no-recreate --scale "$service=$beside" "$service"
  until_well "$service"
  for container in "${old[@]}"; do
    docker stop --time 30 "$container" >/dev/null
    docker rm "$container" >/dev/null
  done
  scales+=(--scale "$service=$(there "$service" | wc -l)")
done
# What is no service of ours, where its image or settings changed.
docker compose up --detach --wait --wait-timeout 120 "${scales[@]}"

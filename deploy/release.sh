#!/bin/bash
# Release what .env's SNATCH_BUILD names while people play: each service's new containers come
# up beside the old ones, which then end one by one and hand over what they hold.
#
#     SNATCH_BUILD=2026-11-30 docker compose build && SNATCH_BUILD=2026-11-30 deploy/release.sh
set -euo pipefail
cd "$(dirname "$0")/.."

services="engine rooms bots watch gateway"
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

count() { # service
  there "$1" | wc -l
}

scales() { # as many of each as there are
  for name in $services; do printf '%s\n' --scale "$name=$(count "$name")"; done
}

up() { # options: tried again, for one that is busy may seem unhealthy for a moment
  local now
  mapfile -t now < <(scales)
  for _ in 1 2 3; do
    docker compose up --detach "${now[@]}" "$@" && return
  done
  exit 1
}

# Gone and made, not made anew: compose stops everybody who depends on what it makes anew.
docker compose rm --stop --force setup
up --no-recreate
[ "$(docker wait "$(docker compose ps --all --quiet setup)")" = 0 ]

for service in $services; do
  mapfile -t old < <(outdated "$service")
  all=$(count "$service")
  beside=$((2 * ${#old[@]} > all ? 2 * ${#old[@]} : all))
  # Not of this service alone: compose would soon make those anew that were made without what they depend on.
  up --no-recreate --scale "$service=$beside"
  until_well "$service"
  for container in "${old[@]}"; do
    docker stop --time 30 "$container" >/dev/null
    docker rm "$container" >/dev/null
  done
done

# What is no service of ours, where its image or settings changed.
up --wait --wait-timeout 120

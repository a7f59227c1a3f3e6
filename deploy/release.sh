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
  image=$(docker image inspect --format '{{.Id}}' "$(grep "^snatch-$1:" <<<"$images")") || return
  there "$1" | xargs -r docker inspect --format '{{.Id}} {{.Image}}' | awk -v image="$image" '$2 != image { print $1 }'
}

until_well() { # service: as soon as all of it is healthy; after two minutes say so and end
  local states
  for _ in $(seq 240); do
    # A question that Docker has no time for is no answer.
    if states=$(there "$1" | xargs -r docker inspect --format '{{.State.Health.Status}}'); then
      grep -qvx healthy <<<"${states:-healthy}" || return 0
    fi
    sleep 0.5
  done
  echo "✗ $1 does not get healthy: docker compose logs $1" >&2
  echo "→ old and new run side by side; mend it and run this again, or run it with the old SNATCH_BUILD" >&2
  exit 1
}

# Whatever is asked below: a service of which nothing is known would be scaled to none.
no_answer() {
  echo "✗ Docker gave no answer" >&2
  echo "→ everything runs as it is: run this again, and it goes on from there" >&2
  exit 1
}

count() { # service
  local containers
  containers=$(there "$1") || return
  wc -w <<<"$containers"
}

scales() { # as many of each as there are
  local name number
  for name in $services; do
    number=$(count "$name") || return
    printf '%s\n' --scale "$name=$number"
  done
}

up() { # options: tried again, for one that is busy may seem unhealthy for a moment
  local found now
  found=$(scales) || no_answer
  mapfile -t now <<<"$found"
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
  found=$(outdated "$service") || no_answer
  old=()
  [ -z "$found" ] || mapfile -t old <<<"$found"
  all=$(count "$service") || no_answer
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

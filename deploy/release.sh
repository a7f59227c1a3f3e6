#!/bin/bash
# Release what .env's SNATCH_BUILD names while people play: each service's new containers come
# up beside the old ones, which then end one by one and hand over what they hold.
#
#     SNATCH_BUILD=2026-11-30 docker compose build && SNATCH_BUILD=2026-11-30 deploy/release.sh
set -euo pipefail
cd "$(dirname "$0")/.."

scales=()
docker compose run --rm --no-deps setup
for service in engine rooms bots watch gateway; do
  mapfile -t old < <(docker compose ps --quiet "$service")
  scales+=(--scale "$service=${#old[@]}")
  docker compose up --detach --no-deps --no-recreate --wait --wait-timeout 120 \
    --scale "$service=$((2 * ${#old[@]}))" "$service"
  for container in "${old[@]}"; do
    docker stop --time 30 "$container" >/dev/null
    docker rm "$container" >/dev/null
  done
done
# What is no service of ours, where its image or settings changed.
docker compose up --detach --wait --wait-timeout 120 "${scales[@]}"

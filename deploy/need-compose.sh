#!/bin/bash
# Say plainly what is missing where `docker compose` can't work.
set -euo pipefail
cure() { printf '✗ %s\n→ %s\n' "$1" "$2" >&2; exit 1; }
command -v docker >/dev/null || cure "there is no docker here" "install Docker Engine with its compose plugin, then run this again"
docker compose version >/dev/null 2>&1 || cure "this docker has no compose" "install the compose plugin (Debian: docker-compose, Docker's own packages: docker-compose-plugin)"
docker info >/dev/null 2>&1 || cure "no Docker engine answers" "start it (systemctl start docker), and see that you may use it: docker info"

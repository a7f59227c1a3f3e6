#!/bin/bash
# Lock what each image installs, with hashes, at the versions of requirements.txt: what is tested is what is shipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
uv=${UV:-.venv/bin/uv}
lock() { "$uv" pip compile -q --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -c requirements.txt "$@"; }
for service in gateway rooms engine bots watch load; do
  lock --extra "$service" -o "deploy/locks/$service.txt" pyproject.toml
done
lock -o deploy/locks/build.txt deploy/locks/build.in

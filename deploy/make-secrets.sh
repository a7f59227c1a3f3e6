#!/bin/bash
# Write .env from .env.example with a new secret.  An .env that has a secret is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -f .env ] && grep -q '^SNATCH_SECRET=.' .env; then
  echo ".env has a secret already"
  exit 0
fi
umask 077
[ -f .env ] || cp .env.example .env
chmod 600 .env
secret=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
if grep -q '^SNATCH_SECRET=' .env; then
  sed -i "s/^SNATCH_SECRET=.*/SNATCH_SECRET=$secret/" .env
else
  echo "SNATCH_SECRET=$secret" >>.env
fi
echo "wrote .env with a new secret"

#!/bin/sh
# A container's host name is its instance id, another in each replica and the same after a
# restart, and the name by which other containers reach it.
set -eu
name=$(cat /etc/hostname)
: "${SNATCH_INSTANCE:=$name}" "${SNATCH_ENGINE_ADVERTISE:=$name}"
export SNATCH_INSTANCE SNATCH_ENGINE_ADVERTISE
exec "$@"

#!/bin/sh
# A container's host name is its instance id: another in each replica, the same after a restart.
set -eu
: "${SNATCH_INSTANCE:=$(cat /etc/hostname)}"
export SNATCH_INSTANCE
exec "$@"

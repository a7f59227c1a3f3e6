"""Start a module under the name of its container.

A container's host name is its instance id, another in each replica and the same after a
restart, and the name by which other containers reach it.
"""

import os
import socket
import sys

name = socket.gethostname()
os.environ.setdefault("SNATCH_INSTANCE", name)
os.environ.setdefault("SNATCH_ENGINE_ADVERTISE", name)
os.execv(sys.executable, [sys.executable, "-m", *sys.argv[1:]])

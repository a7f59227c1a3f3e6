"""At the end of a build: everybody may read what an image holds, and it is compiled.

Whoever built it may have had a clone that only they can read (umask 027 is usual on servers),
and its service is somebody else.  And as the file system is read-only when it runs, it would
be compiled again at every start.
"""

import compileall
import stat
import sys
from pathlib import Path

for folder in (Path("/app"), Path("/usr/local/lib/snatch")):
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        wanted = mode | (0o055 if path.is_dir() else 0o044)
        if mode != wanted:  # each that is changed is in the image twice
            path.chmod(wanted)
sys.exit(not compileall.compile_dir("/app", quiet=1))

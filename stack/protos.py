"""Generate the gRPC code of `proto/` into `generated/`: `python -m stack.protos`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def generate(root: Path = ROOT) -> None:
    """Write `generated/` anew.  Raises SystemExit with protoc's words when a file is wrong."""
    from grpc_tools import protoc

    out = root / "generated"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    files = [str(Path("generated") / f.relative_to(root / "proto")) for f in sorted((root / "proto").rglob("*.proto"))]
    plugin = Path(sys.executable).parent
    args = [
        "protoc",
        f"-Igenerated={root / 'proto'}",
        f"--plugin=protoc-gen-mypy={plugin / 'protoc-gen-mypy'}",
        f"--plugin=protoc-gen-mypy_grpc={plugin / 'protoc-gen-mypy_grpc'}",
        f"--python_out={root}",
        f"--grpc_python_out={root}",
        f"--mypy_out={root}",
        f"--mypy_grpc_out={root}",
        *files,
    ]
    code = protoc.main(args)
    if code != 0:
        raise SystemExit(f"protoc failed with {code}")
    for folder in [out, *[p for p in out.rglob("*") if p.is_dir()]]:
        (folder / "__init__.py").touch()


if __name__ == "__main__":
    generate()

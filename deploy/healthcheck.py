"""Exit 0 when this container's service says on its operations port that it is ready."""

import os
import socket
import sys

# A socket by hand: importing an HTTP client costs more than the check itself, every few seconds.
with socket.create_connection(("127.0.0.1", int(os.environ["SNATCH_OPS_PORT"])), timeout=2) as ops:
    ops.sendall(b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n")
    answer = b""
    while part := ops.recv(4096):
        answer += part
head, _, body = answer.partition(b"\r\n\r\n")
sys.stdout.write(body.decode(errors="replace"))
sys.exit(0 if b" 200 " in head.split(b"\r\n")[0] else 1)

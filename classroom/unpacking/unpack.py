"""Read one uploaded file from standard input, and write its hash and its code as JSON.

It is started as `python -I -S unpack.py BYTES`, the memory that it may use. A file may ask for any
amount of memory and time while it is unpacked and parsed; here it can only end this process.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from classroom.unpacking.notebook_code import (
    MAX_BYTES,
    TOO_COMPLEX,
    UNREADABLE,
    RejectedError,
    code_in_file,
)

CPU_SECONDS = 20


def limit_process(memory: int) -> None:
    """Bound the memory and the CPU time of this process."""
    import resource

    for name, size in (("RLIMIT_AS", memory), ("RLIMIT_CPU", CPU_SECONDS), ("RLIMIT_CORE", 0)):
        resource.setrlimit(getattr(resource, name), (size, size))


def unpack_upload(raw: bytes) -> dict[str, object]:
    """Extract the code cells, or the status and the reason why there are none."""
    try:
        return {"sources": code_in_file(raw)}
    except RejectedError as error:
        return {"status": error.status, "reason": str(error)}
    except MemoryError:
        return {"status": UNREADABLE, "reason": TOO_COMPLEX}


def main() -> None:
    """Write the hash first, so that it is known however the rest ends."""
    if sys.platform == "linux":
        limit_process(int(sys.argv[1]))
    raw = sys.stdin.buffer.read(MAX_BYTES + 1)
    print(hashlib.sha256(raw).hexdigest(), flush=True)
    print(json.dumps(unpack_upload(raw)), flush=True)


if __name__ == "__main__":
    main()

"""What every process of the grader needs, loaded once in a process that the others are forked from.

So they share the memory of it, and start in no time.
"""

from __future__ import annotations

import gc
import sys

import torch  # noqa: F401 - seconds to load, which would count for the first answer that needs it

import classroom.__main__  # noqa: F401
from classroom.processes import end_with_parent

if any("multiprocessing.forkserver" in word for word in sys.orig_argv):
    end_with_parent()
    gc.freeze()  # else the first collection in each process would copy all of this

"""Refuse system calls that no answer needs and that lead out of the sandbox or past its limits.

libseccomp compiles the list for this processor; it is the library that systemd and Docker use.
"""

from __future__ import annotations

import ctypes
import errno
import os
import tempfile
from functools import cache

LIBRARY = "libseccomp.so.2"
ALLOW, REFUSE = 0x7FFF0000, 0x00050000  # of seccomp.h; an error number is added to REFUSE
EQUAL, GREATER, MASKED = 4, 6, 7
UNKNOWN = -1  # the number of a call that this version of the library does not know
REFUSED = {
    "keys of the kernel": ("add_key", "keyctl", "request_key"),
    "memory that no process counts": (
        "memfd_create", "memfd_secret", "mq_open", "msgget", "semget", "shmat", "shmctl", "shmget",
    ),
    "requests past this filter": ("io_uring_enter", "io_uring_register", "io_uring_setup"),
    "other processes": (
        "kcmp", "pidfd_getfd", "process_madvise", "process_vm_readv", "process_vm_writev", "ptrace",
    ),
    "namespaces and mounts": (
        "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount",
        "open_tree", "pivot_root", "setns", "umount", "umount2", "unshare",
    ),
    "the kernel itself": (
        "acct", "bpf", "delete_module", "fanotify_init", "finit_module", "init_module",
        "kexec_file_load", "kexec_load", "lookup_dcookie", "migrate_pages", "move_pages",
        "name_to_handle_at", "nfsservctl", "open_by_handle_at", "perf_event_open", "quotactl",
        "quotactl_fd", "reboot", "settimeofday", "swapoff", "swapon", "syslog", "userfaultfd",
        "vhangup",
    ),
}  # fmt: skip
NEW_NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000,
                  0x40000000)  # fmt: skip
ADDRESS_FAMILIES = {1, 2, 10}  # AF_UNIX, AF_INET, AF_INET6: the sandbox has no network to use them


class Comparison(ctypes.Structure):
    """`struct scmp_arg_cmp`: which argument of a call, how it is compared, and with what."""

    _fields_ = (
        ("argument", ctypes.c_uint), ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64), ("second", ctypes.c_uint64),
    )  # fmt: skip


class SystemCallFilter:
    """A filter that allows all calls but those that are refused."""

    def __init__(self) -> None:
        """Load the library; an OSError says that it is not installed."""
        self.library = ctypes.CDLL(LIBRARY)
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.rules = ctypes.c_void_p(self.library.seccomp_init(ALLOW))

    def number(self, name: str) -> int:
        """The number of a system call on this processor."""
        return self.library.seccomp_syscall_resolve_name(name.encode())

    def refuse(self, name: str, error: int, *comparisons: Comparison) -> None:
        """Let a call fail with this error, where its arguments compare as said."""
        if self.number(name) == UNKNOWN:
            return
        array = (Comparison * len(comparisons))(*comparisons)
        given = (self.rules, REFUSE + error, self.number(name), len(comparisons), array)
        failed = self.library.seccomp_rule_add_array(*map(_as_c, given[:-1]), given[-1])
        if failed:
            raise OSError(-failed, f"the system call {name} cannot be refused")

    def compiled(self) -> bytes:
        """The filter as the kernel reads it."""
        with tempfile.TemporaryFile() as file:
            failed = self.library.seccomp_export_bpf(self.rules, file.fileno())
            if failed:
                raise OSError(-failed, "the filter of system calls cannot be compiled")
            file.seek(0)
            return file.read()


def _as_c(value: ctypes.c_void_p | int) -> ctypes.c_void_p | ctypes.c_uint | ctypes.c_int:
    if isinstance(value, ctypes.c_void_p):
        return value
    return ctypes.c_uint(value) if value >= 0 else ctypes.c_int(value)


@cache
def compiled_filter() -> bytes:
    """The filter of every sandbox."""
    calls = SystemCallFilter()
    for names in REFUSED.values():
        for name in names:
            calls.refuse(name, errno.EPERM)
    for flag in NEW_NAMESPACES:
        calls.refuse("clone", errno.EPERM, Comparison(0, MASKED, flag, flag))
    # Its flags stand in memory, where no filter can read them; the C library then uses `clone`.
    calls.refuse("clone3", errno.ENOSYS)
    for family in set(range(max(ADDRESS_FAMILIES))) - ADDRESS_FAMILIES:
        calls.refuse("socket", errno.EAFNOSUPPORT, Comparison(0, EQUAL, family, 0))
    calls.refuse("socket", errno.EAFNOSUPPORT, Comparison(0, GREATER, max(ADDRESS_FAMILIES), 0))
    return calls.compiled()


def filter_file() -> int:
    """Open the filter as a file, for the descriptor that bubblewrap reads."""
    number = os.memfd_create("filter")
    os.write(number, compiled_filter())
    os.lseek(number, 0, os.SEEK_SET)
    return number


@cache
def keyctl_number() -> int:
    """The number of the call that manages keys, on this processor."""
    return SystemCallFilter().number("keyctl")


def join_new_session_keyring() -> None:
    """Leave the session keyring of the user behind, in this process and in those it starts."""
    join = 1
    ctypes.CDLL(None).syscall(keyctl_number(), join, None)

"""What an experiment's process may write to, enforced by the kernel (Linux 5.19 or newer: Landlock).

Source: https://docs.kernel.org/userspace-api/landlock.html. A restricted process cannot be freed again,
and neither can those that it starts. Reading, running and the network are unaffected. Everything that
would change a file or folder elsewhere fails with "Permission denied", and so does a signal to a process
that was not started here (Linux 6.12). For the rest see enclosure.py."""

import ctypes
import os
import sys
from collections.abc import Sequence

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # system calls, the same on all machines
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38
O_PATH = getattr(os, "O_PATH", 0)
WRITE_FILE = 1 << 1
# remove_dir, remove_file, make_char, make_dir, make_reg, make_sock, make_fifo, make_block, make_sym
ENTRIES = sum(1 << bit for bit in range(4, 13))
REFER = 1 << 13  # renaming into another folder; without it (first version) that would always fail
TRUNCATE = 1 << 14  # since the third version
ON_FILES = WRITE_FILE | TRUNCATE
SIGNALS = 1 << 1  # a scope, since the sixth version


class Ruleset(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def version() -> int:
    """The version of Landlock that the kernel offers; 0 where there is none that is of use."""
    if not sys.platform.startswith("linux"):
        return 0
    found = int(libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))
    return found if found >= 2 else 0


def restrict(writable: Sequence[str]) -> bool:
    """From now on this process and all that it starts can write beneath `writable` only. Missing paths are
    skipped. False where the kernel cannot do it. Raises OSError where it failed; then nothing has been
    restricted."""
    known = version()
    if not known:
        return False
    rights = WRITE_FILE | ENTRIES | REFER | (TRUNCATE if known >= 3 else 0)
    wanted = Ruleset(rights, 0, SIGNALS if known >= 6 else 0)
    rules = check_result(
        libc().syscall(CREATE_RULESET, ctypes.byref(wanted), ctypes.sizeof(wanted), ctypes.c_uint32(0))
    )
    try:
        for path in filter(os.path.exists, writable):
            allow(rules, path, rights)
        check_result(libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        check_result(libc().syscall(RESTRICT_SELF, rules, ctypes.c_uint32(0)))
    finally:
        os.close(rules)
    return True


def allow(rules: int, path: str, rights: int) -> None:
    handle = os.open(path, O_PATH | os.O_CLOEXEC)
    try:
        beneath = Beneath(rights if os.path.isdir(path) else rights & ON_FILES, handle)
        check_result(libc().syscall(ADD_RULE, rules, 1, ctypes.byref(beneath), ctypes.c_uint32(0)))
    finally:
        os.close(handle)


def die_with_parent(number: int) -> None:
    """Have the kernel send this process a signal when the one that started it ends (Linux)."""
    if sys.platform.startswith("linux"):
        libc().prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux)."""
    if sys.platform.startswith("linux"):
        libc().prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result

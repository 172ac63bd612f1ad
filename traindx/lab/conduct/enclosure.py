"""A view of the machine for one experiment: read-only files, caches whose changes are discarded, a separate
network.

Linux namespaces (https://man7.org/linux/man-pages/man7/namespaces.7.html). Landlock (fence.py) has no
right for permissions, owners, times and attributes, and cannot distinguish a connection within the
machine from one that leaves it. Here every mount is read-only except for the places that an experiment
may write to, which prevents those changes. Folders of caches get a layer on top that takes the changes.
/dev/shm is a new one that ends with the experiment."""

import contextlib
import functools
import itertools
import os
import re
import socket
import stat
import struct
import sys
from collections.abc import Iterator, Sequence

from traindx.lab.conduct.fence import check_result, libc, version

TRY = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from traindx.lab.conduct import enclosure; enclosure.enter(sys.argv[2], [], [], network=False)"
)
NEWNS, NEWUSER, NEWNET = 0x20000, 0x10000000, 0x40000000
OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442  # system calls, the same on all machines
CLONE, BY_DESCRIPTOR, RECURSIVE = 1, 4, 0x8000
HERE = -100  # AT_FDCWD
BIND, ALL_PRIVATE = 0x1000, 0x4000 | 0x40000
NO_SUID_NO_DEVICES = 0x2 | 0x4
INTERFACE_UP, SET_FLAGS, SET_ADDRESS, SET_MASK = 0x41, 0x8914, 0x8916, 0x891C
CAPABILITIES = 0x20080522  # the version of their layout
SHARED = "/dev/shm"
# Settings of the process itself, and terminals. Devices need no right to write to the folder that they are
# in.
LIVE = ("/proc", "/dev/pts")
# These only answer who a user is, without which a user of a cluster has no name, or share an accelerator.
SERVICES = ("/run/nscd", "/run/nslcd", "/run/systemd/userdb", "/var/lib/sss", "/tmp/nvidia-mps")
RUN, DEPTH, MOST = "/run", 3, 5000  # where services listen: levels and entries of it that are searched
NO_WAY = ("Ip:OutNoRoutes", "Ip6OutNoRoutes", "Udp:NoPorts", "Udp6NoPorts")


@functools.cache
def possible() -> bool:
    """Whether this machine permits it, tried in a process that ends at once."""
    if not sys.platform.startswith("linux"):
        return False
    import subprocess

    from traindx.temporary import SCRATCH, temporary_folder  # not where a keeper enters one

    home = os.path.join(os.path.dirname(__file__), "..", "..", "..")  # the folder that holds the package
    with temporary_folder(SCRATCH) as place:
        command = [sys.executable, "-I", "-S", "-c", TRY, home, str(place)]
        return not subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False
        ).returncode


def limits(network: bool) -> tuple[str, ...]:
    """What this machine cannot keep an experiment from, which may use the `network` or not."""
    if possible():
        return ()
    writing = "writing to ~/.cache and /dev/shm" if version() else "writing outside of its copy"
    return (
        writing,
        "changing permissions and times of your files",
        *(() if network else ("using the network",)),
    )


def enter(place: str, writable: Sequence[str], caches: Sequence[str], network: bool) -> list[int]:
    """Put this process, and all that it starts, into the view; it must have one thread. Written to are the
    scratch folder `place`, and `writable`. Gives descriptors of the counters of its network. Raises
    OSError."""
    addresses = re.findall(r"\|-- (\S+)\s+/32 host LOCAL", read("/proc/net/fib_trie"))
    sockets = [] if network else list(listening_sockets([place, *writable]))
    unprivileged = separate(NEWNS | (0 if network else NEWNET))
    check_result(libc().mount(None, b"/", None, ALL_PRIVATE, None))
    trees = {
        path: tree(path) for path in (place, *LIVE, *map(os.path.realpath, writable)) if os.path.exists(path)
    }
    if os.sep not in trees:
        everything_read_only()
    attach_shared_memory(place, trees.pop(place))
    for number, path in enumerate(without_nested_folders(caches)):
        layer(path, os.path.join(place, "layers", str(number)))
    for path in sorted(trees):
        attach(path, trees[path])
    for path in sockets:
        with contextlib.suppress(FileNotFoundError):  # it has gone since it was listed
            mount("/dev/null", path, None, BIND)
    os.chdir(os.getcwd())  # what was the folder until now is beneath the new mounts
    if not network:
        connect_to_itself(addresses)
    if unprivileged:
        drop_capabilities()
    counters = ("/proc/net/snmp", "/proc/net/snmp6")
    return [] if network else [os.open(path, os.O_RDONLY) for path in counters if os.path.exists(path)]


def separate(kinds: int) -> bool:
    """Leave the namespaces of the parent; whether that took a namespace of users, in which this one is the
    same."""
    if os.geteuid() == 0 and libc().unshare(kinds) == 0:
        return False
    user, group = os.geteuid(), os.getegid()
    check_result(libc().unshare(kinds | NEWUSER))
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    return user != 0


def tree(path: str) -> int:
    """A copy of the mounts at a path, as writable as they are now, to be attached later."""
    return check_result(libc().syscall(OPEN_TREE, HERE, os.fsencode(path), CLONE | RECURSIVE | os.O_CLOEXEC))


def attach(path: str, mounts: int) -> None:
    if not os.path.exists(path):
        os.makedirs(path)  # in a new /dev/shm
    check_result(libc().syscall(MOVE_MOUNT, mounts, b"", HERE, os.fsencode(path), BY_DESCRIPTOR))
    os.close(mounts)


def everything_read_only() -> None:
    """Also what is mounted in other places; a right to write that is missing already is not given."""
    attributes = struct.pack("QQQQ", 1, 0, 0, 0)
    check_result(libc().syscall(MOUNT_SETATTR, HERE, b"/", RECURSIVE, attributes, len(attributes)))


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    names = [None if name is None else os.fsencode(name) for name in (source, target, kind)]
    check_result(libc().mount(*names, flags, os.fsencode(options)))


def attach_shared_memory(place: str, room: int) -> None:
    """Attach the scratch folder, and an empty /dev/shm as large as the existing one, with links to its
    content: it may hold data, and even the scratch folder."""
    if not os.path.isdir(SHARED):
        return attach(place, room)
    before, size = os.path.join(place, "shm"), os.statvfs(SHARED)
    entries = [name for name in os.listdir(SHARED) if not is_within(place, os.path.join(SHARED, name))]
    old = tree(SHARED)
    mount("tmpfs", SHARED, "tmpfs", NO_SUID_NO_DEVICES, f"mode=1777,size={size.f_blocks * size.f_frsize}")
    attach(place, room)
    attach(before, old)
    for name in entries[:MOST]:
        os.symlink(os.path.join(before, name), os.path.join(SHARED, name))


def without_nested_folders(paths: Sequence[str]) -> list[str]:
    """Existing folders, none within another unless it is a mount, which a layer on the outer one would
    hide."""
    folders = sorted({os.path.realpath(path) for path in paths if os.path.isdir(path)})
    mounts = [line.split()[4] for line in read("/proc/self/mountinfo").splitlines()]
    inner = {mount for mount in mounts for folder in folders if mount != folder and is_within(mount, folder)}
    outer = [one for one in folders if not any(one != other and is_within(one, other) for other in folders)]
    return sorted({*outer, *(one for one in inner if os.path.isdir(one))})


def layer(path: str, place: str) -> None:
    """Have changes in a folder go to another one, in memory where its file system cannot be a layer (one
    that has layers itself, as in a container). Where neither can be, the folder is read-only."""
    upper, work = os.path.join(place, "upper"), os.path.join(place, "work")
    for in_memory in (False, True):
        with contextlib.suppress(OSError):
            if in_memory:
                mount("tmpfs", place, "tmpfs", NO_SUID_NO_DEVICES)
            os.makedirs(upper)
            os.makedirs(work)
            mount(
                "overlay", path, "overlay", 0, f"lowerdir={path},upperdir={upper},workdir={work},userxattr"
            )
            return


def is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def listening_sockets(open_too: Sequence[str]) -> Iterator[str]:
    """Sockets in the file system: those that the kernel lists, and those in /run, which another container
    may serve."""
    listed = (line.split(None, 7)[7:] for line in read("/proc/net/unix").splitlines()[1:])
    named = {os.path.realpath(words[0]) for words in listed if words and words[0].startswith(os.sep)}
    open_ones = [*SERVICES, *open_too, os.environ.get("CUDA_MPS_PIPE_DIRECTORY", SERVICES[-1])]
    for path in named | set(sockets_in(RUN, DEPTH)):
        if os.path.exists(path) and not any(is_within(path, os.path.realpath(one)) for one in open_ones):
            yield path


def sockets_in(folder: str, depth: int) -> Iterator[str]:
    with (
        contextlib.suppress(OSError),
        os.scandir(folder) as entries,
    ):  # closed to this user, and its sockets too
        for entry, _ in zip(entries, range(MOST), strict=False):
            if entry.is_dir(follow_symlinks=False):
                yield from sockets_in(entry.path, depth - 1) if depth > 1 else ()
            elif stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
                yield entry.path


def connect_to_itself(addresses: Sequence[str]) -> None:
    """Let processes reach each other by the addresses of the machine, because its name may resolve to any of
    them."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, SET_FLAGS, struct.pack("16sh22x", b"lo", INTERFACE_UP))
        for number, address in enumerate(
            one for one in dict.fromkeys(addresses) if not one.startswith("127.")
        ):
            for what, value in ((SET_ADDRESS, address), (SET_MASK, "255.255.255.255")):
                name, bits = f"lo:{number}".encode(), socket.inet_aton(value)
                fcntl.ioctl(control, what, struct.pack("16sHH4s16x", name, socket.AF_INET, 0, bits))


def drop_capabilities() -> None:
    """A process that is forked instead of started would keep what its namespace gave it."""
    check_result(libc().capset(struct.pack("Ii", CAPABILITIES, 0), bytes(24)))


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""  # a kernel without that protocol


def wanted_network(counters: Sequence[str]) -> bool:
    """Whether a connection or a datagram found no way out, by the text of the counters; also a question to a
    name server on this machine, which is not in the experiment's network."""
    rows = [line.split() for text in counters for line in text.splitlines()]
    known = {row[0]: row[-1] for row in rows if len(row) == 2}
    for names, values in itertools.pairwise(rows):
        if names[0] == values[0]:
            known |= {names[0] + name: value for name, value in zip(names, values, strict=True)}
    return any(known.get(name, "0") != "0" for name in NO_WAY)

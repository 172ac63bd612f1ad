"""`evaluations.npz` of Stable-Baselines3's EvalCallback.

`timesteps[n]`, `results[n, episodes]` (returns), `ep_lengths[n, episodes]`, perhaps
`successes[n, episodes]`. Every evaluation becomes one point: the mean over its episodes, and the
standard deviation as a separate signal. Nothing is unpickled: arrays of Python objects, which
older versions wrote when evaluations had different numbers of episodes, are refused by name.
"""

import io
import math
import zipfile
import zlib

from numpy.typing import NDArray

from traindx.readers.api import Event, Floats, NotALog, RawLog, ReadError, Source, column, np

NAME = "sb3-evaluations"
FILES = ("*.npz",)
BEGINS = (b"PK\x03\x04",)  # of a zip file
LARGEST = 1 << 26  # bytes of one array
MEMBERS = {
    "results": ("val/reward", "val/reward_std"),
    "ep_lengths": ("val/episode_length", "val/episode_length_std"),
    "successes": ("val/success_rate", ""),
}


def sniff(source: Source) -> float:
    """A zip whose first members are named as EvalCallback names them."""
    if not source.head.startswith(BEGINS):
        return 0.0
    names = sum(name in source.head for name in (b"timesteps.npy", b"results.npy", b"ep_lengths.npy"))
    return 1.0 if names >= 2 or b"timesteps.npy" in source.head[:64] else 0.0


def read(source: Source) -> list[RawLog]:
    """One log with a point per evaluation."""
    events: list[Event] = []
    arrays = _members(source, events)
    steps = arrays.get("timesteps")
    if steps is None or steps.ndim != 1 or not len(steps) or "results" not in arrays:
        if events:
            raise ReadError(
                source.name,
                events[0].message,
                where=events[0].place,
                hint="save it again with equal episode counts",
            )
        raise NotALog(source.name, "is a NumPy archive without `timesteps` and `results` of evaluations")
    log = RawLog(source.name, NAME, framework="stable-baselines3", axis_kind="step", events=events)
    for member, (mean, spread) in MEMBERS.items():
        if member in arrays:
            _add(log, arrays[member], steps.astype(np.float64), mean, spread, member)
    return [log]


def _add(
    log: RawLog, values: NDArray[np.generic], steps: Floats, mean: str, spread: str, member: str
) -> None:
    """Mean and standard deviation over episodes of `values[n]` or `[n, episodes]`."""
    count = min(len(values), len(steps))
    if len(values) != len(steps):
        message = f"{len(steps)} timesteps, but {len(values)} rows of {member}: the first {count} are kept"
        log.events.append(Event("parse-warning", message, place=f"{member}.npy", code="damaged"))
    if not count or not values.size:
        return
    table = values[:count].astype(np.float64).reshape(count, -1)
    rows = np.arange(count)
    log.columns[mean] = column(table.mean(axis=1), rows, steps[:count])
    if spread and table.shape[1] > 1:
        log.columns[spread] = column(table.std(axis=1), rows, steps[:count])


def _members(source: Source, events: list[Event]) -> dict[str, NDArray[np.generic]]:
    """The numeric arrays of the archive; what cannot be read becomes an event."""
    arrays: dict[str, NDArray[np.generic]] = {}
    try:
        with (
            source.open() as stream,
            zipfile.ZipFile(stream if stream.seekable() else io.BytesIO(stream.read())) as archive,
        ):
            infos = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            for member in ("timesteps", *MEMBERS):
                if member in infos:
                    array = _array(archive, infos[member], events)
                    arrays |= {} if array is None else {member: array}
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, ValueError) as error:
        raise ReadError(
            source.name, f"is a broken archive: {error}", hint="it may be cut off: copy it again"
        ) from error
    except OSError as error:
        raise ReadError(source.name, f"cannot be read: {error.strerror or error}") from error
    return arrays


def _numbers(octets: bytes) -> NDArray[np.generic]:
    """The array in the bytes of a `.npy` file. Its shape is believed only if the bytes suffice."""
    stream = io.BytesIO(octets)
    version = np.lib.format.read_magic(stream)
    header = (
        np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = header(stream)
    if not dtype.hasobject and math.prod(shape) * dtype.itemsize > len(octets):
        raise ValueError(f"shape {shape} is more than its {len(octets)} bytes hold")
    stream.seek(0)
    return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _array(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, events: list[Event]
) -> NDArray[np.generic] | None:
    why = ""
    if max(info.file_size, info.compress_size) > LARGEST:
        why = f"{max(info.file_size, info.compress_size)} bytes are more than an evaluation can be"
    else:
        try:
            array = _numbers(archive.read(info))
        except (
            ValueError,
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            RuntimeError,
            NotImplementedError,
            SyntaxError,
        ) as error:
            ragged = "Object arrays" in str(error)
            why = (
                "holds pickled objects (episode counts differ), which are never loaded"
                if ragged
                else f"cannot be read: {error}"
            )
        else:
            if array.dtype.kind in "biuf" and array.ndim:
                return array
            why = f"holds {array.dtype}, no numbers" if array.ndim else "holds a single number"
    events.append(
        Event("parse-warning", f"{info.filename} {why}"[:300], place=info.filename, code="damaged")
    )
    return None

"""Numbers that a line shows and that are no new measurement, and an error that comes after the last step."""

from traindx.readers import read_source
from traindx.readers.raw import RawLog, Source

TRACE = 'Traceback (most recent call last):\n  File "fit.py", line 3, in <module>\n    close()\n'
ERROR = TRACE + "TypeError: close() takes 2 arguments"


def read(text: str) -> RawLog:
    data = text.encode()
    return next(iter(read_source(Source("train.log", data=data, head=data))))


def bars(validated: list[float]) -> str:
    """Twenty lines of progress an epoch, each with the last validation."""
    lines = []
    for epoch in range(len(validated)):
        for batch in range(1, 21):
            at = epoch if batch == 20 else epoch - 1
            held = f", val_loss={validated[at]:.3f}" if at >= 0 else ""
            loss = 2 / (1 + epoch + batch / 20)
            bar = (
                f"Epoch {epoch}: {5 * batch:3d}%|###  | {batch}/20 [00:{batch:02d}<00:05, 4.50it/s, v_num=0"
            )
            lines.append(f"{bar}, train_loss={loss:.3f}{held}]")
    return "\n".join(lines)


def test_a_progress_bar_repeats_the_last_validation() -> None:
    log = read(bars([1.9, 1.5, 1.2, 1.2]))
    assert log.columns["val_loss"].values.tolist() == [1.9, 1.5, 1.2, 1.2]
    assert len(log.columns["train_loss"].values) == 80


def test_lines_without_a_bar_are_measurements() -> None:
    lines = (f"Epoch {i // 20} step {i}: train_loss={2 / (i + 1):.3f}, val_loss=7.010" for i in range(80))
    assert len(read("\n".join(lines)).columns["val_loss"].values) == 80


def test_the_range_of_overlaps_belongs_to_the_name() -> None:
    rows = (
        f"epoch {e}\nAP50 (mAP@0.5)    : {e / 10:.4f}\nmAP@0.5:0.95      : {e / 20:.4f}" for e in range(1, 9)
    )
    log = read("\n".join(rows))
    assert log.columns["mAP@0.5:0.95"].values.tolist() == [e / 20 for e in range(1, 9)]


def epochs(last: int) -> str:
    return "\n".join(f"Epoch {e}/50 loss: {2 / e:.4f} val_loss: {2.1 / e:.4f}" for e in range(1, last + 1))


def test_an_error_after_the_last_step_is_no_failed_training() -> None:
    assert [(e.kind, e.code) for e in read(f"{epochs(50)}\n{ERROR}").events] == [("note", "after-the-end")]
    assert [e.kind for e in read(f"{epochs(49)}\n{ERROR}").events] == ["crash"]


def test_the_words_of_a_c_exception_are_no_code() -> None:
    words = "  what():  Error while calling cudaMalloc(&data, n*sizeof(float)). reason: out of memory"
    log = read(f"{epochs(20)}\nterminate called after throwing an instance of 'dlib::cuda_error'\n{words}")
    assert {e.kind for e in log.events} == {"out-of-memory"}
    listed = '  logger.error("out of memory: %s", what())'
    assert read(f"{epochs(20)}\n{listed}").events == []


def places(period: int) -> str:
    """A line every fourth epoch, with the place in a data set of six batches (or with all batches so far)."""
    rows = ((5 + 4 * k, k % period + 1) for k in range(99))
    return "\n".join(f"(epoch: {e}, iters: {i * 4}) G_GAN: 0.7 G_L1: {20 / e:.3f}" for e, i in rows)


def test_where_only_the_epoch_goes_on_it_is_the_axis() -> None:
    log = read(places(6))
    assert log.axis_kind == "epoch"
    assert log.columns["G_L1"].steps.tolist() == list(range(5, 401, 4))
    assert read(places(1000)).axis_kind == "step"

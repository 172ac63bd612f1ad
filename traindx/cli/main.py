"""The command `traindx`: find the verb, import only that one, and turn errors into one line.

Exit status: 0 nothing found at or above the severity asked for, 1 findings, 2 error (bad
input, bad options, or a bug in traindx), 128 + n ended by signal n (130: Ctrl-C). TRAINDX_DEBUG=1
shows the traceback of a bug, and warnings; without it there are none.
"""

import gc
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import click

from traindx.cli.interruptions import Ended, orderly
from traindx.errors import TraindxError
from traindx.version import OWN_THREADS

# Each verb is `traindx/cli/verbs/<verb>.py` with a click command `<verb>` (find-lr: find_lr); the line is what
# the overview says of it, so that `traindx --help` need not import any (a test keeps it equal to the verb's own).
VERBS = {
    "diagnose": "Diagnose training runs from their logs.",
    "run": "Run an unmodified script, record it, then diagnose it.",
    "profile": "Trace a few steps of a script and show where its time goes.",
    "memory": "Measure the memory that a step needs, and what would fit.",
    "find-lr": "Find a learning rate for an unmodified script by a sweep.",
    "investigate": "Run experiments on a script until the cause is clear.",
    "fix": "Find a fix for an unmodified script, and prove that it helps.",
    "watch": "Follow training runs that are still being written.",
    "check": "Check an unmodified script before a long run.",
    "gradients": "Show gradients, weights and updates of every module.",
    "activations": "Show the outputs of every module, with flags.",
    "knowledge": "Show earlier trials and their outcomes.",
    "compare": "Compare several runs: which is best, and what differs.",
    "explain": "Print the page of a rule, cause, fix or pattern.",
    "demo": "Train a small network with a known fault, and diagnose it.",
}

# Errors other than MemoryError that also mean too little memory: a library that cannot be loaded, a thread not started.
NO_MEMORY = ("failed to map segment", "Cannot allocate memory", "can't start new thread")

EXAMPLES = """\b
Examples:
  traindx diagnose runs/exp1
  traindx diagnose trainer_state.json --format html --output report.html
  python train.py | tee train.log; traindx diagnose train.log
  traindx explain loss-plateaus
"""


class Verbs(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        name = cmd_name.replace("-", "_")
        command: click.Command = getattr(importlib.import_module(f"traindx.cli.verbs.{name}"), name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(unknown_verb(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def unknown_verb(word: str) -> str:
    import difflib

    near = difflib.get_close_matches(word, VERBS, n=1)
    if near:
        return f"there is no verb {word!r}; did you mean {near[0]!r}?"
    if os.path.exists(word):
        return f"there is no verb {word!r}; to diagnose that file: traindx diagnose {word}"
    return f"there is no verb {word!r}; verbs are {', '.join(VERBS)}"


def show_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from traindx import __version__

        click.echo(f"traindx {__version__}")
        ctx.exit()


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXAMPLES,
    subcommand_metavar="VERB …",
    options_metavar="[-h] [--version]",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=show_version,
    help="Print the version.",
)
def cli() -> None:
    """Diagnose neural-network training runs: what is wrong, since which step, why, and what to do.

    Reads the logs that you already have. `traindx VERB --help` explains each verb."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit status."""
    libraries = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    ours = [name for name in libraries if name not in os.environ]
    gc.set_threshold(100_000)  # few objects are cyclic, so a collection every 700 objects only costs time
    # The matrices here are small: a second BLAS thread only waits. A script that is started gets its own setting back.
    os.environ |= {**dict.fromkeys(ours, "1"), OWN_THREADS: ",".join(ours)}
    open_closed()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a character that cannot be shown is replaced, not an exception
            stream.reconfigure(errors="replace")
    if not sys.warnoptions and not os.environ.get("TRAINDX_DEBUG"):
        import warnings

        warnings.simplefilter("ignore")  # they are for developers, who can ask for them with python -W
    status = run(arguments)
    gc.freeze()  # the process ends here, so a last collection would be wasted
    sys.exit(status)


def open_closed() -> None:
    """Open the null device for standard streams that are closed (`>&-`). Otherwise the next file that is opened would
    get their number and receive what scripts print."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the kernel gives the lowest free number, which is this one
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def run(arguments: Sequence[str] | None) -> int:
    """The exit status of one call; every error has been reported when it returns."""
    try:
        with orderly():
            status = cli.main(args=arguments, prog_name="traindx", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:  # the bare command: the overview is the answer
        click.echo(error.format_message(), err=True)
    except click.UsageError as error:
        verb = error.ctx.command_path if error.ctx else "traindx"
        complain(f"{error.format_message()} (see: {verb} --help)")
    except click.ClickException as error:
        complain(error.format_message())
    except TraindxError as error:
        complain(str(error))
    except OSError as error:  # the disk is full, a network drive is gone ...
        complain(f"{error.filename or 'writing the output'}: {error.strerror}")
    except (KeyboardInterrupt, click.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # click takes it for Ctrl-D
            complain(f"a file ends too early: {error.__cause__}")
            return 2
        return Ended(signal.SIGINT).report("")
    except Ended as ended:
        return ended.report(next(iter(sys.argv[1:] if arguments is None else arguments), ""))
    except Exception as bug:
        if isinstance(bug, MemoryError) or any(sign in str(bug) for sign in NO_MEMORY):
            complain("not enough memory; free some, or raise the limit (ulimit -v)")
            return 2
        if os.environ.get("TRAINDX_DEBUG"):
            import traceback

            traceback.print_exc()
        apologize(bug)
    return 2


def complain(message: str) -> None:
    """One line on stderr."""
    from traindx.cli.streams import note

    note("traindx: error: " + " ".join(message.split()))


def apologize(bug: Exception) -> None:
    """Say where traindx itself failed, in one line that can be pasted into a report."""
    frame = bug.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    place = f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}" if frame else "?"
    complain(
        f"a bug in traindx, sorry: {type(bug).__name__}: {bug} (at {place}). Please report it with the log; "
        "TRAINDX_DEBUG=1 shows the traceback"
    )


if __name__ == "__main__":
    main()

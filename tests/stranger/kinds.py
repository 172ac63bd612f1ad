"""What a stranger adds, one of each kind: files next to this one, and lines for existing files.

The folder `tests/stranger/<kind>` holds the new files at their places in the repository. `LINES` are added to files that
exist. `Omitted` steps are left out, one at a time: the named test must then fail with a sentence that names the file."""

from __future__ import annotations

from typing import NamedTuple


class Line(NamedTuple):
    """`text` is added before the first `anchor` in the file."""

    path: str
    anchor: str
    text: str


class Omitted(NamedTuple):
    """A step that is left out: a new file, or a line for a file. `test` must fail and say `sentence`."""

    path: str
    test: str
    sentence: str


class Kind(NamedTuple):
    """`tests` are enough after `python -m docs.generate`. Those that need PyTorch are in `torch_tests`."""

    name: str
    tests: tuple[str, ...]
    lines: tuple[Line, ...] = ()
    omitted: tuple[Omitted, ...] = ()
    torch_tests: tuple[str, ...] = ()


CAUSE = '''    Cause(
        slug="placeholder-loss",
        title="The log shows a constant instead of the loss",
        family="systems",
        prior=-6.0,
        page="""The loop logs a number that is set elsewhere.

In a log: every value of the loss is the same.

Mistaken for: a loss that does not fall.

Settled by: printing the loss in the loop.""",
        weights={"loss-repeats-one-value": W(6.0, -1.0)},
        settles=(("the loss of a step", "print(loss.item()) in the loop"),),
    ),
'''
FAULT = """    Fault("placeholder", "placeholder-loss", slow_host, settings=RANKED),
"""
SIGNAL = """    SignalKind("weight_sparsity/<module>", "none", "1", "share of weights that are exactly zero"),
"""
OUTPUT_SCALE = """    SignalKind("output_scale/<module>", "none", "", "largest absolute output of a layer"),
"""
RULE_TESTS = ("fires_on_its_samples", "stays_clear_on_near_misses", "survives_every_prefix", "page_has_every_section",
              "no_number_hides_in_a_body", "thresholds_are_declared")  # fmt: skip
CONTRACT = "tests/rules/test_contract.py"
REGENERATE = "python -m docs.generate"

KINDS = (
    Kind(
        "rule",
        (*(f"{CONTRACT}::test_{name}[loss-repeats-one-value]" for name in RULE_TESTS),
         f"{CONTRACT}::test_codes_are_unique_and_released_rules_are_kept_in_order",
         "tests/test_indexes.py::test_listed_rules_are_the_rules"),
        omitted=(
            Omitted("tests/samples/loss_repeats_one_value.py",
                    f"{CONTRACT}::test_fires_on_its_samples[loss-repeats-one-value]",
                    "add tests/samples/loss_repeats_one_value.py"),
            Omitted("traindx/rules/index.py", "tests/test_indexes.py::test_listed_rules_are_the_rules", REGENERATE),
        ),
    ),
    Kind(
        "log_format",
        ("tests/readers/test_names_of_files.py",
         "tests/test_indexes.py::test_listed_fixes_and_formats_are_those",
         "tests/readers/test_names_of_files.py::test_every_format_has_a_log"),
        omitted=(
            Omitted("tests/logs/toy/run.toylog", "tests/readers/test_names_of_files.py::test_every_format_has_a_log",
                    "add a log that the tool wrote, under tests/logs"),
            Omitted("traindx/readers/index.py", "tests/test_indexes.py::test_listed_fixes_and_formats_are_those",
                    REGENERATE),
        ),
    ),
    Kind(
        "signal_by_parameter",
        ("tests/capture/signals/test_signal_families.py::"
         "test_a_family_is_declared_in_the_words_of_the_vocabulary[sparsity]",),
        (Line("traindx/vocabulary/signals.py", '    SignalKind("weight_absmax/<module>"', SIGNAL),),
        (Omitted("traindx/vocabulary/signals.py",
                 "tests/capture/signals/test_signal_families.py::"
                 "test_a_family_is_declared_in_the_words_of_the_vocabulary[sparsity]",
                 "add a SignalKind for weight_sparsity/<module> to traindx/vocabulary/signals.py"),
         Omitted("traindx/capture/torch/measure/by_parameter/sparsity.py",
                 "tests/capture/signals/test_signal_families.py::test_every_parameter_signal_has_a_reader",
                 "add traindx/capture/torch/measure/by_parameter/sparsity.py")),
        ("tests/capture/signals/test_signal_families.py::test_whatever_a_recording_holds_is_declared",),
    ),
    Kind(
        "signal_by_hook",
        ("tests/capture/signals/test_signal_families.py::"
         "test_a_family_is_declared_in_the_words_of_the_vocabulary[output_scale]",
         "tests/capture/signals/test_signal_families.py::test_every_panel_is_measured_by_a_framework"),
        (Line("traindx/vocabulary/signals.py", '    SignalKind("weight_absmax/<module>"', OUTPUT_SCALE),),
        (Omitted("traindx/capture/torch/measure/by_pass/output_scale.py",
                 "tests/capture/signals/test_signal_families.py::test_every_panel_is_measured_by_a_framework",
                 "add traindx/capture/torch/measure/by_pass/output_scale.py with an Observer"),),
    ),
    Kind(
        "intervention",
        ("tests/capture/interventions/test_parse.py",),
        omitted=(
            Omitted("traindx/capture/torch/interventions/gradients/gradient_sign.py",
                    "tests/capture/interventions/test_parse.py::test_some_framework_applies_every_intervention",
                    '@applies("gradient_sign") below traindx/capture/torch/interventions'),
            Omitted("tests/capture/interventions/test_gradient_sign.py",
                    "tests/capture/interventions/test_parse.py::test_a_training_runs_under_every_intervention",
                    "gradient_sign=on: add a test to tests/capture/interventions"),
        ),
        torch_tests=("tests/capture/interventions/test_gradient_sign.py",),
    ),
    Kind(
        "cause",
        ("tests/causes/test_catalogue.py", "tests/gym/test_plan.py::test_every_cause_is_made_by_a_fault"),
        (Line("traindx/causes/families/systems.py", '    Cause(\n        slug="rank-desync"', CAUSE),
         Line("benchmarks/gym/faults/systems.py", '    Fault("slow-reads"', FAULT)),
        (Omitted("benchmarks/gym/faults/systems.py", "tests/gym/test_plan.py::test_every_cause_is_made_by_a_fault",
                 "add a Fault of it to benchmarks/gym/faults"),),
    ),
    Kind(
        "fix",
        ("tests/fixes/test_fixes.py::test_each_fix_is_whole[write-real-losses]",
         "tests/fixes/test_fixes.py::test_every_cause_has_a_fix[placeholder-loss]",
         "tests/test_indexes.py::test_listed_fixes_and_formats_are_those"),
        omitted=(
            Omitted("traindx/fixes/systems/write_real_losses.py",
                    "tests/fixes/test_fixes.py::test_every_cause_has_a_fix[placeholder-loss]",
                    "add traindx/fixes/<family>/<what_to_do>.py"),
            Omitted("traindx/fixes/index.py", "tests/test_indexes.py::test_listed_fixes_and_formats_are_those",
                    REGENERATE),
        ),
    ),
    Kind(
        "edit",
        ("tests/lab/edits/test_edits.py",),
        (Line("tests/lab/edits/applies.py", '    Applies("lr=0.003"',
              '    Applies("gradient_sign=on", (("        # the step\\n", SIGNS + "        # the step\\n"),)),\n'),
         Line("tests/lab/edits/applies.py", "APPLIES = [",
              'SIGNS = "        for p in model.parameters():\\n            p.grad = p.grad.sign()\\n"\n'),
         Line("tests/lab/edits/refuses.py", '    Refuses("clip=1.0", "no optimizer.step()"',
              '    Refuses("gradient_sign=on", "larger statement", ((STEP, "        seen = opt.step()\\n"),)),\n')),
        (Omitted("tests/lab/edits/applies.py",
                 "tests/lab/edits/test_edits.py::test_every_kind_has_samples_of_both_sides",
                 'add Applies("gradient_sign=...", ...) to tests/lab/edits/applies.py'),
         Omitted("tests/lab/edits/refuses.py",
                 "tests/lab/edits/test_edits.py::test_every_kind_has_samples_of_both_sides",
                 'add Refuses("gradient_sign=...", ...) to tests/lab/edits/refuses.py')),
    ),
    Kind(
        "report_format",
        ("tests/reports/test_formats.py",),
        (Line("traindx/cli/options.py", '"html"]', '"csv", '),
         Line("traindx/cli/diagnosis_output.py", '            "html": diagnosis.to_html',
              '            "csv": lambda: importlib.import_module("traindx.reports.csv").render(diagnosis.document),\n'),
         Line("traindx/cli/diagnosis_output.py", "from collections.abc import Iterable\n", "import importlib\n")),
        (Omitted("traindx/cli/diagnosis_output.py", "tests/reports/test_formats.py", "traindx/cli/diagnosis_output.py"),),
    ),
    Kind(
        "alert_channel",
        ("tests/live/test_channels.py",),
        omitted=(
            Omitted("tests/live/channels/keep.py", "tests/live/test_channels.py::test_a_message_arrives_as_it_is[keep]",
                    "add tests/live/channels/keep.py with receiver()"),
        ),
    ),
    Kind(
        "framework",
        ("tests/test_layout.py::test_every_room_of_capture_has_a_floor",),
        (Line("pyproject.toml", '    "torch | keras | jax | rounds"', '    "toy",\n'),),
        (Omitted("pyproject.toml", "tests/test_layout.py::test_every_room_of_capture_has_a_floor",
                 'add "toy" to the layers of traindx.capture in pyproject.toml'),),
    ),
    Kind(
        "verb",
        ("tests/cli/test_main.py",),
        (Line("traindx/cli/main.py", '    "demo": "Train',
              '    "hello": "Say hello to whoever reads the terminal.",\n'),),
        (Omitted("traindx/cli/main.py", "tests/cli/test_main.py::test_every_verb_is_listed",
                 'add "hello": "Say hello to whoever reads the terminal." to VERBS in traindx/cli/main.py'),),
    ),
)  # fmt: skip

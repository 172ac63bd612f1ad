"""The faults of quantization-aware training are in their scripts."""

from __future__ import annotations

import pytest

from benchmarks.quantized.cases import FAULTS, SCRIPTS, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.script}.{fault.name}")
def test_a_fault_changes_its_script(fault: Fault) -> None:
    healthy = (SCRIPTS / f"{fault.script}.py").read_text(encoding="utf-8")
    compile(fault.text(), fault.script, "exec")
    assert fault.text() != healthy


def test_a_text_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match="0 times"):
        FAULTS[0]._replace(swaps=(("not there", ""),)).text()

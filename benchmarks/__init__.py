"""What traindx is measured with. Each module is a command of its own."""

from pathlib import Path

PROGRAM_FILES = Path(__file__).parent / "programs"  # scripts that are trained; see its README.md

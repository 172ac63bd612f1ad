"""An index of projects: `traindx knowledge forget --project` asks for them."""

from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Make the index."""
    op.create_index("ix_outcomes_project", "outcomes", ["project"], if_not_exists=True)

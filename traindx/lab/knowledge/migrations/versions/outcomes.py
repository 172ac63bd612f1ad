"""The one table: what is searched for in columns, all of an outcome as JSON. Databases that were made before
there were migrations have it already."""

import sqlalchemy as sql
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make it where it is not there."""
    op.create_table(
        "outcomes",
        sql.Column("id", sql.Integer, primary_key=True),
        sql.Column("layout", sql.Integer, nullable=False),
        sql.Column("at", sql.Float, nullable=False),
        sql.Column("project", sql.String(200), nullable=False),
        sql.Column("fix", sql.String(80), nullable=False),
        sql.Column("cause", sql.String(80), nullable=False),
        sql.Column("verdict", sql.String(20), nullable=False),
        sql.Column("content", sql.Text, nullable=False),
        if_not_exists=True,
    )
    for column in ("fix", "cause"):
        op.create_index(f"ix_outcomes_{column}", "outcomes", [column], if_not_exists=True)

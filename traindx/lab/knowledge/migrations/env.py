"""Run by Alembic, in the transaction that the store has opened."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()

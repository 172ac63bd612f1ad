"""The migrations of the database. Alembic applies those that a database has not seen yet."""

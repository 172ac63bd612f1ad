"""How the tables of the database came to be, step by step; Alembic takes a database from whatever step it is at."""

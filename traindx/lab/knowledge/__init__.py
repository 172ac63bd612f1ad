"""What was tried before and how it went: remembered in a database, told as counts.

store    the database: SQLite by default, any other by URL (SQLAlchemy)
counts   what earlier outcomes say of a fix for a cause: Beta counts, capped, fading with age
"""

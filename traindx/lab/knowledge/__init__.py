"""Outcomes of earlier trials, remembered in a database and used as counts.

store     the database: SQLite by default, any other by URL (SQLAlchemy)
recovery  whether a file is ours, and what a damaged one still holds
counts    what earlier outcomes say about a fix for a cause: Beta counts, capped, fading with age"""

"""The kinds of edits, in folders by what they change."""

"""The nouns of traindx: frozen, JSON-able, knowing nothing of the stages that use them."""

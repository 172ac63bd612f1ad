"""From what was found to the probability of each cause."""

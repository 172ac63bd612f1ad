"""What `traindx check` checks: its catalogues, the experiments that they need, and their results (pure)."""

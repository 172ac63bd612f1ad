"""How an experiment or a fact would narrow the causes, and what it costs."""

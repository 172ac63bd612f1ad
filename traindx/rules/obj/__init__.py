"""obj rules: trainings whose loss is no score, such as agents and preference tuning."""

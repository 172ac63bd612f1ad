"""What runs are compared by, and whether a difference between them is more than chance."""

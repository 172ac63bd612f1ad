"""How well the names of logged columns are understood: a harvest of public names, with labels."""

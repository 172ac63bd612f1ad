"""Readers of every parameter, one file for each family of signals (`signals/<kind>.py`): `read(parameters,
elsewhere)` returns one vector, on the device of the parameters where they are not on the host
(`elsewhere`)."""

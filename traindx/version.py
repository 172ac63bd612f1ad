"""What traindx says of itself, to documents and to its own processes."""

VERSION = "0.1.0"
OWN_THREADS = "TRAINDX_OWN_THREADS"  # variable: which others a command has set for its own arithmetic

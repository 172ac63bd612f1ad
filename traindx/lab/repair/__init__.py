"""From a script to a proof: which change helps it, shown with paired seeds.

bench        starts the script under interventions and seeds, each combination once, journaled
search       rounds of fixes: screened with one pair, proved with more, combined, taken apart again
investigate  experiments until one cause is settled
"""

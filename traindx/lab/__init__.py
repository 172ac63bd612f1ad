"""Experiments on the user's script, from the first idea to what is remembered of them.

plan       which changes to try, in which order, for how many steps
conduct    starts the script in a scratch copy, confined and under interventions, and records it
judge      objectives, significance, and whether an edited script behaves like its intervention
find_lr    the learning-rate range test
edits      writes a change into the user's source
repair     the search that joins these into a proof, an investigation, a patch and a report
knowledge  outcomes of earlier proofs, in a database
"""

"""Runs that are still being written: followed, judged as they grow, and reported once when something happens.

`follow` finds the runs below a path and notices what is appended, `looks` decides when a run is judged again,
`episodes` turns diagnoses into events, `journal` keeps the events so that none is lost or repeated. `checks` and
`rounds` do the same inside a training, for `traindx.watch` and the callbacks.
"""

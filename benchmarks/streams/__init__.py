"""False alarms and delay of `traindx watch`: runs that have ended are replayed row by row through its code."""

"""Public training programs, plain and under `traindx run`, unmodified but for their length and where data comes from.

`programs.json` names each by repository, commit, folder and script; none of their code is kept here. Half of the
repositories (by the parity of the SHA-256 of their name) are developed on, the other half only measured.
"""

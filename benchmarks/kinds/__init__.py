"""Faults of trainings whose loss is no score: reinforcement learning, adversarial nets and autoencoders, preference
tuning. Each is put into a script that works:

    python -m benchmarks.kinds train FOLDER [SCRIPT.NAME ...]     # trains; healthy ones are SCRIPT.healthy, .seed-2 ...
    python -m benchmarks.kinds table FOLDER [log]                 # the diagnosis of each recording, or of what it printed
    python -m benchmarks.kinds checks FOLDER                      # what each training achieved

Each script measures at its end what it achieved (returns, samples, answers to new prompts) and writes it to
`check.json`, which is not printed. A healthy one has to reach a bound, and a faulty one has to miss it. Half of the
faults, by a hash of their names, are `held`: nothing was developed on them.
"""

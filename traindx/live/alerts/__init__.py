"""Messages to people who do not look at the terminal: commands, and services by apprise.

`targets` says where messages go and where secrets come from, `messages` makes one message of several events, `delivery`
decides when one is due, sends it again until it arrives and remembers it over restarts, `channels` has one file a kind.
"""

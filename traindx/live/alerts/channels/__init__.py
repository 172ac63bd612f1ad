"""One file for each kind of channel. Its functions: `check(address)` raises ConfigError for an address that can never
work; `send(address, message)` delivers a message, or raises NotDelivered with a reason that holds no secret."""

"""What each kind of alert channel is tested with: `receiver(folder)` gives an address, one that fails, and what arrived."""

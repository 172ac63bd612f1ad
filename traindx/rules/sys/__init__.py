"""sys rules: throughput."""

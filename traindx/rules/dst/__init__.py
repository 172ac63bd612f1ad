"""DST: processes of one training that wait for each other, differ or fall silent."""

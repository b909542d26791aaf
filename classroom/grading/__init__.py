"""Grade a folder of submissions, log every result, and compute the table."""

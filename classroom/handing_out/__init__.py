"""What students get: notebooks and checks without the answers."""

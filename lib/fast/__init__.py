"""Optional: what makes a finished model faster, applied from outside."""

"""Run student code in a sandbox of the operating system."""

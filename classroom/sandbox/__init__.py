"""Student code run behind walls of the operating system."""

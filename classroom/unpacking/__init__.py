"""Take the code out of uploaded files, in a process of its own with little memory and time."""

"""Send values between the process that grades and the one that runs answers."""

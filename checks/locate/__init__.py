"""The first step at which a wrong answer differs from the reference."""

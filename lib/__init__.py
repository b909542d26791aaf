"""The definitions of the course: a ladder of small rooms, each of which imports only from below."""

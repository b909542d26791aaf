"""The commands that build: notebooks, book, draft, static site, PDF."""

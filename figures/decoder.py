"""The map of the course, under the name by which the chapters import it."""

from figures.diagrams.decoder import decoder

__all__ = ["decoder"]

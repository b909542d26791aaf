"""For each entry of the debugging atlas: what is healthy, and what has each of its causes.

A patient is the namespace in which the entry's test runs. The test must pass in the healthy one
and fail in all the others; a cause that has a misconception is called by its id.
"""

from tests.atlas import comparing, learning, reading, tables

PATIENTS = tables.PATIENTS | reading.PATIENTS | learning.PATIENTS | comparing.PATIENTS

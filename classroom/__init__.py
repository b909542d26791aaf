"""How a class is graded: hand out, collect, grade, report.

The teacher's guide explains each command.
"""

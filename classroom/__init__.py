"""Graded exercises for a class: hand out, collect, grade, explain. See the teacher's guide."""

"""A class graded: each submission marked, results kept, marks computed."""

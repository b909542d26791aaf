"""The page about a class: points, tasks, mistakes, and whom to look at first."""

"""The learner's own record: what was tried, passed and named."""

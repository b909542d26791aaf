"""Calling an answer safely and comparing what it returns."""

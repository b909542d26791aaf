"""Published weights, fetched, verified and loaded into our models."""

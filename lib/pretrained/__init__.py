"""Published weights: downloaded, verified and loaded into our models."""

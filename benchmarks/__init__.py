"""Speed against other libraries, as ratios measured in one run."""

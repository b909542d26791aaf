"""What can be seen in wrong numbers: a factor, an order, a place, an axis."""

"""How the course is drawn: the palette, plots, diagrams and widgets."""

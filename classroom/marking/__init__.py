"""Tasks that no check can judge: free text and plots, marked by hand on a local page."""

"""Tasks that no check can judge: free text and plots, marked by hand on a page of this machine."""

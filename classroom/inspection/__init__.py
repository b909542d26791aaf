"""Look closely at submissions: run one again with its prints, and compare all with each other."""

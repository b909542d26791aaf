"""How pages become a site: what a page calls, Sphinx extensions, the build."""

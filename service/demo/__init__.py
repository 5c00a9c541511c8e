"""The demo corpus that comes with the package, and its loader."""

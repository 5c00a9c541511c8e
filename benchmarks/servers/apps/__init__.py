"""Small servers that run in the peers' own environments."""

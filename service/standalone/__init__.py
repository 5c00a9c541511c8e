"""Models without a server, in the shape that Python programs already expect of an encoder."""

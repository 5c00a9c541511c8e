"""Encoders: sentences in, vectors out; one idea a file."""

"""Inputs that nobody would write: to each parser, and to the whole service."""

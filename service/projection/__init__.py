"""Vectors on a plane, to be looked at; nothing is computed from the plane."""

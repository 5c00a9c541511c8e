"""Objectives: what makes a vector good, one idea a file.

An objective over sentence pairs is any callable that takes the vectors of B sources [B, D] and B
targets [B, D] and the batch, and returns one number to be made small.
"""

"""Inference: tokens -> batch -> vectors, in process (`encoder`) or behind a queue (`engine`)."""

"""Decoders: what a sentence vector must hold is what the sentence can be written again from."""

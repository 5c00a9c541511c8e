"""Embedding servers side by side: the same model, machine, texts and client."""

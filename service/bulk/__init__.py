"""Encode large files into Parquet: in this process, or on a Ray cluster with the same command.

files -> `items` -> shards of stated size -> an engine (texts -> vectors) -> `shards` (written)
"""

"""Encode large files into Parquet: in this process, or on a Ray cluster with the same command.

files (`sources`) -> `items` -> shards of stated size -> an engine (texts -> vectors) -> `shards`
"""

"""Evaluation: one file a protocol, all of them through the exported bundle in the served runtime.

The runtime is `service.inference.encoder.Encoder`, so a figure is what a user of the service gets,
stored precision included.
"""

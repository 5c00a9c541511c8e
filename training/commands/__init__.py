"""The commands of the training half, a file each.

Nothing heavy is imported until a command runs: the service mounts them and must start without
torch.
"""

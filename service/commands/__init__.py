"""The commands of `interlingua`, one file each; `service.cli` is their root.

What they keep to:

- Texts come as arguments or on standard input, a line each; results go to standard output and
  nothing else does. Progress and remarks go to standard error, progress only when that is a
  terminal.
- Exit codes: 0 done; 1 failed, with the reason and a remedy in one line; 2 used wrongly, or a
  setting cannot work; 130 interrupted.
- A module here imports nothing heavy before its command runs: `interlingua --help` stays quick.
"""

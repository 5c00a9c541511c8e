"""The ledger: each claim of the papers, how it is tested here, what was measured, the verdict.

    claim (hermann schwenk yu chidambaram li)  ->  runs  ->  figures  ->  comparison  ->  verdict

A claim names systems and what is measured on them. Systems are trained once, whatever the number of
claims that need them, and kept by a hash of all their parameters; figures are kept by system and
protocol; so a run that was broken off goes on where it was. docs/reproduction.md is made from the
results.
"""

"""Models that other tools made: directories of sentence-transformers and transformers.

`configs` are the files they have, `layout` what they say together, `bundle` the same as a bundle;
`importing` writes that bundle down, with `bert_graph` where there are only weights and
`weights8` where they shall be small.
"""

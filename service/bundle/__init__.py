"""The bundle: a directory that is all the service needs to know of a model.

`manifest` says what is in it, `reader` refuses what cannot be trusted, `writer` makes one,
`card` writes its model card.
"""

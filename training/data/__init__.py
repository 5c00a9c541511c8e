"""Text from public formats to mini-batches.

`lines` reads files, `nway`, `moses` and `tsv` know one format each, `folder` the layout that holds
them, `catalogue` their licences; `cleaning` and `corpus` make one table of sentences and pairs,
`tokens` their ids, `mixing` how often which pair is drawn, `batches` what the loop is fed.
"""

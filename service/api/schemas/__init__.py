"""What goes over the wire, one file a family of addresses.

Requests are checked by these models. Answers are only documented by them: they are written
straight from arrays (`service.api.responses`).
"""

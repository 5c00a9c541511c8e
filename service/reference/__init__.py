"""Pages of the documentation that are made from the code: `python -m service.reference`."""

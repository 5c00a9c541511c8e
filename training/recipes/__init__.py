"""Recipes, one a file: parameters at three scales, and the parts they put together."""

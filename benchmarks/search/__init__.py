"""Search measured: speed beside other engines, and what kills cost."""

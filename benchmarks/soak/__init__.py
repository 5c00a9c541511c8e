"""Mixed traffic for a long time: what grows, and what becomes slower."""

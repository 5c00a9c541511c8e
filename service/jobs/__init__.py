"""Work that outlives a request: submitted, watched, cancelled, and remembered over a restart."""

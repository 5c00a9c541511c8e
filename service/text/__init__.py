"""Text: cleaning, tokens, language. Training uses this package too, so both sides agree."""

"""Who may do what: keys, the scopes and corpora they are good for, and how fast they may ask."""

"""What measures speed and durability; each module is a command."""

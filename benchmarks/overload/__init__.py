"""What happens past capacity, and over time: overload, and a soak of mixed traffic."""

"""Short texts on their shortest way: from the socket to the queue and back, without ASGI."""

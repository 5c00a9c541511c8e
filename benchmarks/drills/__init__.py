"""Drills: what users see while replicas come, go and fail, behind a real load balancer."""

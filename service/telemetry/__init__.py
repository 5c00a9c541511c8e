"""Telemetry: metrics for Prometheus, logs for people or machines."""

"""ONNX graphs of encoders, one way of making them a file."""

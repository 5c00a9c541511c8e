"""Encoders on Intel's OpenVINO runtime: 8-bit or bf16 products, and no time lost on padding."""

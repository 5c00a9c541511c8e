"""What an operator may wish of an encoder's run; apart, so that settings load no runtime."""

from __future__ import annotations

from typing import Literal

Runtime = Literal["onnxruntime", "openvino"]
Precision = Literal["fp32", "bf16", "int8"]

RuntimeWish = Literal["auto", "onnxruntime", "openvino"]
PrecisionWish = Literal["auto", "fp32", "bf16", "int8"]

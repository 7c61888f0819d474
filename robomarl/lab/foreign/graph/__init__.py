"""Readers of what an ONNX file says beside its operators: inputs and outputs, memory, precision, metadata."""

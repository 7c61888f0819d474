"""Readers of the parts of an ONNX file beside its operators: inputs and outputs, memory, precision, metadata."""

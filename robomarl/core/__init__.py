"""Code that makes decisions on a robot. It needs numpy, onnxruntime, cffi and yaml, and imports no other floor."""

"""What decides on a robot: it needs numpy, onnxruntime, cffi and yaml, and imports no other floor."""

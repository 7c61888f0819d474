"""Pictures of robots' cameras: readers and writers of their messages, and the pictures that a recording keeps."""

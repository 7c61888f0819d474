"""PX4 over the topics of px4_msgs, as the uXRCE-DDS agent puts them on the network."""

"""Teams that fly or flew, as moments of a scene: from the topics of ROS, running or recorded."""

"""Report pages and `robomarl up` of flying teams."""

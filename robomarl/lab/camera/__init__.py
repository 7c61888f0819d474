"""Pictures of cameras on robots by MuJoCo's renderer."""

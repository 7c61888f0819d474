"""robomarl's environment on a robot: installed beside the one that is used, and switched like a bundle."""

"""What a training starts from: a bundle, a run or a stage before, whose policy may see less or say less."""

"""What a training starts from: nothing, a bundle, a run or a stage before, and the programs that it runs."""

"""Start of a training: nothing, a bundle, a run or an earlier stage; and the programs that the training runs."""

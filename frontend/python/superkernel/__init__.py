"""Super kernels by skirc, in the place of the package of this name that GE and torch_npu import."""

"""Cases of sample kernels, a file a family: `add(cases)` adds them."""

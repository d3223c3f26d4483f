"""x.npy, and what the two ops make of it: y = x + x, z = y + x."""

import numpy as np

x = np.random.default_rng(1).integers(-1000, 1000, 8192).astype(np.int32)
np.save("x.npy", x)
np.save("z.npy", x + x + x)

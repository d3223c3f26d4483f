"""TorchAir's marks, as torch_skir.py has them."""

from torch_skir import limit_core_num, npu_stream_switch, npu_wait_tensor, super_kernel

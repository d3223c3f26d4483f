"""Stands in for torch_npu where there is no NPU: its functions that torch_skir.py has."""

from torch_skir import npu_dequant_swiglu_quant, npu_quant_matmul, npu_rms_norm

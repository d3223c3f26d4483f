"""Stands in for torch_npu where there is no NPU: its functions that the examples call, by PyTorch's."""

import torch

_ROUND = 12582912.0  # 1.5 * 2**23: adding it leaves no fraction to a small f32


def npu_quant_matmul(x1, x2, scale, *, offset=None, pertoken_scale=None, bias=None,
                     output_dtype=torch.int8):
    if offset is not None or bias is not None:
        raise NotImplementedError("npu_quant_matmul with offset or bias")
    product = torch.matmul(x1.float(), x2.float()) * scale  # the sums are exact below 2**24
    if pertoken_scale is not None:
        product = product * pertoken_scale.unsqueeze(-1)
    return product.to(output_dtype)


def npu_dequant_swiglu_quant(x, *, weight_scale=None, activate_left=False, quant_mode=0):
    if quant_mode != 1 or weight_scale is None:
        raise NotImplementedError("npu_dequant_swiglu_quant without weight_scale and quant_mode=1")
    left, right = torch.chunk(x.float() * weight_scale, 2, -1)
    gated = torch.nn.functional.silu(left) * right if activate_left \
        else left * torch.nn.functional.silu(right)
    scale = torch.abs(gated).amax(-1) / 127
    nearest = gated / scale.unsqueeze(-1) + _ROUND - _ROUND
    return nearest.to(torch.int8), scale

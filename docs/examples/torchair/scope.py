"""A product of quantised matrices and the activation after it, in one super kernel."""

import torch
import torch_npu
import torchair


class Scope(torch.nn.Module):
    def forward(self, x, weight, scale, token_scale, weight_scale):
        with torchair.scope.super_kernel("sp1", ""):
            product = torch_npu.npu_quant_matmul(x, weight, scale, pertoken_scale=token_scale,
                                                 output_dtype=torch.bfloat16)
            y, y_scale = torch_npu.npu_dequant_swiglu_quant(product, weight_scale=weight_scale,
                                                            quant_mode=1)
        return y, y_scale, product


def make():
    torch.manual_seed(1)
    x, weight = (torch.randint(-10, 10, shape, dtype=torch.int8) for shape in ((48, 256), (256, 128)))
    return Scope(), [x, weight, torch.rand(128), torch.rand(48), torch.rand(128)]


if __name__ == "__main__":
    model, inputs = make()
    config = torchair.CompilerConfig()
    config.debug.graph_dump.type = "txt"
    backend = torchair.get_npu_backend(compiler_config=config)
    model = torch.compile(model.npu(), backend=backend, dynamic=False, fullgraph=True)
    for result in model(*(tensor.npu() for tensor in inputs)):
        print(result.cpu())

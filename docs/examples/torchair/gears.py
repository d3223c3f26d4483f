"""A sum of two inputs with two shapes each, which the compiled graph has both."""

import torch
import torch_npu
import torchair


class Gears(torch.nn.Module):
    def forward(self, x1, x2):
        return x1 + x2


def make(rows=2):
    torch.manual_seed(rows)
    return Gears(), [torch.rand(rows, 2), torch.rand(rows, 2)]


if __name__ == "__main__":
    model, inputs = make()
    config = torchair.CompilerConfig()
    config.debug.graph_dump.type = "txt"
    config.inference_config.dynamic_gears_merge_policy = "zip"
    backend = torchair.get_npu_backend(compiler_config=config)
    model = torch.compile(model.npu(), backend=backend, dynamic=True, fullgraph=True)
    for rows in (2, 4):
        inputs = [tensor.npu() for tensor in make(rows)[1]]
        if rows == 2:
            for tensor in inputs:
                torchair.inference.set_dim_gears(tensor, {0: [2, 4]})
        print(model(*inputs).cpu())

"""Sums and products on three streams, with two orders that no tensor says.

Stream "1" begins its product when `total` is there, stream "2" its sum when `product` is. The first
npu_wait_tensor has a result that nothing uses: it is the stream that waits."""

import torch
import torch_npu
import torchair


class MultiStream(torch.nn.Module):
    def forward(self, in1, in2, in3, in4):
        total = torch.add(in1, in2)
        with torchair.scope.npu_stream_switch("1"):
            torchair.scope.npu_wait_tensor(in4, total)
            product = torch.mm(in3, in4)
        direct = torch.mm(in3, in4)
        with torchair.scope.npu_stream_switch("2"):
            late = torchair.scope.npu_wait_tensor(in4, product)
            shifted = torch.add(in3, late)
        with torchair.scope.npu_stream_switch("1"):
            torchair.scope.npu_wait_tensor(in3, shifted)
            square = torch.mm(product, in3)
        return total, square, direct, shifted


def make():
    torch.manual_seed(1)
    return MultiStream(), [torch.randn(64, 64).half() for _ in range(4)]


if __name__ == "__main__":
    model, inputs = make()
    config = torchair.CompilerConfig()
    config.debug.graph_dump.type = "txt"
    backend = torchair.get_npu_backend(compiler_config=config)
    model = torch.compile(model.npu(), backend=backend, dynamic=False, fullgraph=True)
    for result in model(*(tensor.npu() for tensor in inputs)):
        print(result.cpu())

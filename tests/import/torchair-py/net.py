# -*- coding: utf-8 -*-
from torch import tensor
from torchair._ge_concrete_graph import ge_apis as ge
from torchair.ge._ge_graph import get_default_ge_graph

x_0 = ge.Data(index=0, dtype=1, shape=[4, 8], placement="NPU", node_name="x")
w_0 = ge.Data(index=1, dtype=27, shape=[-1, s0], placement="NPU", node_name="layers/0/w")
n_0 = ge.Data(index=2, dtype=9, shape=[], placement="CPU", node_name="n")
any_0 = ge.Data(index=3, dtype=0, placement="NPU", node_name="any")
# File "/home/net.py", line 9, in forward    a, b = x.split(2)
## FX Code: split: None = torch.ops.aten.split.Tensor(x: torch.float16[4, 8]npu:0, 2)
layers_0_SplitD_0, layers_0_SplitD_1 = ge.SplitD(x_0, split_dim=0, num_split=2)
[TopKV2_0, TopKV2_1] = ge.TopKV2(layers_0_SplitD_0, ge.Const([3], dtype=3), sorted=True, dim=-1, node_name="topk")
ConcatD_0 = ge.ConcatD([layers_0_SplitD_0, layers_0_SplitD_1], concat_dim=0, N=2, node_name="ConcatD")
MatMulV2_0 = ge.MatMulV2(ConcatD_0, w_0, None, None, transpose_x1=False, transpose_x2=True, node_name="MatMulV2")
_ = ge.PrintV2(TopKV2_1, output_stream="stderr")
Identity_0 = ge.Identity(MatMulV2_0, dependencies=[Tensor(layers/0/SplitD:1, dtype=DT_FLOAT16, size=[2, 8]), <torchair.ge._ge_graph.ControlTensor object at 0x7f3a5c0d9e40>], node_name="Identity")

_ = ge.NetOutput([Identity_0, TopKV2_1, None], dependencies=[ConcatD_0])

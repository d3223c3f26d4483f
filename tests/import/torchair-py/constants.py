# -*- coding: utf-8 -*-
from torch import tensor
from torchair._ge_concrete_graph import ge_apis as ge
from torchair.ge._ge_graph import get_default_ge_graph

x_0 = ge.Data(index=0, dtype=0, shape=[2, 2], placement="NPU", node_name="x")
Transpose_0 = ge.Transpose(x_0, [1, 0], node_name="Transpose")
Mul_0 = ge.Mul(Transpose_0, ge.Const(1.5, dtype=0), node_name="Mul")
Add_0 = ge.Add(ge.Const(tensor([[1., 2.],
        [3., -inf]]), dtype=0), Mul_0, node_name="Add")
Sub_0 = ge.Sub(Add_0, tensor([1, 2], dtype=torch.int32), node_name="Sub")
Pack_0 = ge.Pack([Sub_0, 1, ge.Const(True, dtype=12)], N=3, axis=0, node_name="Pack")
Div_0 = ge.RealDiv(Pack_0, array([0.5, nan], dtype=float16), node_name="Div")
More_0 = ge.Add(Div_0, ge.Const(tensor([0, 1, 2,  ..., 7, 8, 9]), dtype=9), node_name="More")
Not_0 = ge.Add(More_0, ge.Const(, dtype=9), node_name="Not")
Many_0 = ge.Add(Not_0, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], node_name="Many")
Many_const_0 = ge.Const([1, 2], dtype=3, node_name="Many_const")
Last_0 = ge.Add(Many_0, Many_const_0, node_name="Last")
Odd_0 = ge.Add(Last_0, [[1, 2], [3]], node_name="Odd")
Dual_0 = ge.Add(Odd_0, ge.Const(3, dtype=14), node_name="Dual")

_ = ge.NetOutput([Dual_0], dependencies=[])

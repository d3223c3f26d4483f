# -*- coding: utf-8 -*-
from torch import tensor
from torchair._ge_concrete_graph import ge_apis as ge
from torchair.ge._ge_graph import get_default_ge_graph

x_0 = ge.Data(index=0, dtype=0, shape=[2], format="NCHW", placement="NPU", node_name="x")
All_0 = ge.Anything(x_0, i=-3, h=0x1f, f=1e-05, inf=inf, minus=-inf, t=True, n=None, w=mean, d=DataType.DT_FLOAT, dt=DT_FLOAT16, li=[1, 2], lf=[0.5, 1], lb=[True, False], ll=[[1], [], [2, 3]], e=[], s="text", q="say "hi" to (all) of you", lines="a
b", c="C:\\dir\t\x41\u00e9\101", names=['a', 'b"c', "d'e", 'it\'s', b'\x00\xff'], tup=(1, 2), dict={'a': 1}, o=<Format.FORMAT_ND: 2>, big=18446744073709551615, huge=18446744073709551616, torch=torch.float32, call=slice(0, 1), y=x_0, ys=[x_0, x_0], late=Tensor(x:0, dtype=DT_FLOAT, size=[2]))

_ = ge.NetOutput([All_0])

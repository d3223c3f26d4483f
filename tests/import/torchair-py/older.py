from torch import tensor
from torchair.ge_concrete_graph import ge_apis as ge
from torchair.ge_concrete_graph.ge_graph import get_default_ge_graph

arg0_1_0 = ge.Data(index=0, shape=[2, -1], dtype=0, placement='NPU')
Add_1_0 = ge.Add(arg0_1_0, Late_0)
Late_0 = ge.Neg(arg0_1_0)
y_0, [z_1, z_2] = ge.Several(Add_1_0)
w, _ = ge.Two(z_2)

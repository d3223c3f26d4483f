from torchair import ge
x_0 = ge.Data(index=0, dtype=0, shape="[2]", node_name="x")

from torchair import ge
# Symbols of Python's that are no names of dimensions are dimensions that are not known.
x_0 = ge.Data(index=0, dtype=0, shape=[s0, 2, true, nan], node_name="x")
y_0 = ge.Relu(x_0, node_name="y")
_ = ge.NetOutput([y_0])

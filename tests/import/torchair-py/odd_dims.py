# Dimensions that are no integers are not known.
x_0 = ge.Data(index=0, dtype=0, shape=[2.5, 3, "s", -1], node_name="x")
y_0 = ge.Relu(x_0, node_name="y")
ge.NetOutput([y_0])

from torchair import ge
x_0 = ge.Abs(dependencies=3)

from torchair import ge
x_0 = ge.Abs(k=1, k=2)

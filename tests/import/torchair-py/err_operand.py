from torchair import ge
x_0 = ge.Abs({1: 2})

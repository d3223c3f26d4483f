from torchair import ge
x_0 = ge.Abs(ge.Neg(a_0))

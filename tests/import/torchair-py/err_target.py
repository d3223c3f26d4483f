from torchair import ge
3 = ge.Abs(a_0)

from torchair import ge
print(x_0)

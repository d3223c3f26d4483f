from torchair import ge
x = 3

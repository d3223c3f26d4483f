from torchair import ge
x_0 = os.system("true")

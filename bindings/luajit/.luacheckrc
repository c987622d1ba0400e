std = "luajit"
max_line_length = false -- generated lines are long

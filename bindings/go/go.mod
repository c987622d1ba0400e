module netlib.example/netlib

go 1.19

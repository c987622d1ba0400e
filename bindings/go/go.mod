module netlib

go 1.19

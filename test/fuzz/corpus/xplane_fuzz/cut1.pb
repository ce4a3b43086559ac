
«/host:metadata"ÎÉjit_step(7)*·
2²
¯
jit_stepmainV
body
p	parameter˜/
ar
all-reduce˜ Ğ¸º(0%
cond
q	parameter˜(0
main
x	
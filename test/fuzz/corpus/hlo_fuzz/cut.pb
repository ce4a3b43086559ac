
Ø
jit_stepmainV
body
p	parameterò/
ar
all-reduceò†–∏∫(0%
cond
q	parameterò(0ç
ma
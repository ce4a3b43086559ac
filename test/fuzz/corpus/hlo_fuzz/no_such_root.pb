
ê
jit_fmain%
body
p	parameter˜(0c%
cond
q	parameter˜(0„
main
x	parameter˜B
loopwhile˜  °°Ú{"known_trip_count":{"n":"5"}}
yadd˜!    (0!0z
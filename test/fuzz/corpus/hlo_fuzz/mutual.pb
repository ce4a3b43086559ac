
ÿ
jit_fmain<
body
pcall˜°
aradd˜ (0#
cond
qcall˜°(0„
main
x	parameter˜B
loopwhile˜  °°Ú{"known_trip_count":{"n":"5"}}
yadd˜!    (0!0z
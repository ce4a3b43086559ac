
’
jit_fmainM
body
p	parameter˜&
aradd˜ ÿÿÿÿÿÿÿÿÿ(0%
cond
q	parameter˜(0„
main
x	parameter˜B
loopwhile˜  °°Ú{"known_trip_count":{"n":"5"}}
yadd˜!    (0!0z
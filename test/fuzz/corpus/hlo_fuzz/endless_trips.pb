
®
jit_fmainV
body
p	parameter˜/
ar
all-reduce˜ Ð¸º(0%
cond
q	parameter˜(0—
main
x	parameter˜U
loopwhile˜  °°Ú1{"known_trip_count":{"n":"99999999999999999999"}}
yadd˜!    (0!0z
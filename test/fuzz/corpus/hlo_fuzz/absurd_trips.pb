
­
jit_fmainV
body
p	parameter˜/
ar
all-reduce˜ Ð¸º(0%
cond
q	parameter˜(0–
main
x	parameter˜T
loopwhile˜  °°Ú0{"known_trip_count":{"n":"4611686018427387904"}}
yadd˜!    (0!0z
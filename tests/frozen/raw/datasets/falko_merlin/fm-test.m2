S é é x
A 0 1|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 2 3|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 0 1|||R:OTHER|||y|||REQUIRED|||-NONE-|||1

S x x é x x
A 2 3|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 3 4|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 0 1|||R:OTHER|||y|||REQUIRED|||-NONE-|||1

S é é x
A 1 2|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 0 1|||R:OTHER|||y|||REQUIRED|||-NONE-|||1

S it's x it's x
A 2 3|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 3 4|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 0 1|||R:OTHER|||y|||REQUIRED|||-NONE-|||1


S it's it's x it's it's é
A 2 3|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 3 4|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 0 1|||R:OTHER|||y|||REQUIRED|||-NONE-|||1

S it's x it's é
A 1 2|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 0 1|||R:OTHER|||y|||REQUIRED|||-NONE-|||1

S é é it's x x it's
A 0 1|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 2 3|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 3 4|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 4 5|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 0 1|||R:OTHER|||y|||REQUIRED|||-NONE-|||1

S x it's it's x it's
A 0 1|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 1 2|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 2 3|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 4 5|||R:SPELL|||z|||REQUIRED|||-NONE-|||0
A 0 1|||R:OTHER|||y|||REQUIRED|||-NONE-|||1


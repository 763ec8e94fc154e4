S A dogs rose
A 1 2|||R:NOUN:NUM|||dog|||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB|||rises|||REQUIRED|||-NONE-|||1

S The dog can
A 3 3|||M:PUNCT|||.|||REQUIRED|||-NONE-|||0
A 0 1|||R:DET|||a|||REQUIRED|||-NONE-|||1


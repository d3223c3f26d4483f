# What is done to a program: one file per pass, the pipeline table, the analyses they share.

libskir_la_SOURCES +=

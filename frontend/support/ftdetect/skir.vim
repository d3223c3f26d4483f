autocmd BufRead,BufNewFile *.skir setfiletype skir

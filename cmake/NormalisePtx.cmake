# Makes nvcc's PTX the same text wherever the checkout lies and whenever it was compiled: paths of the project's
# own files become relative to ROOT (also those found by way of VIEW), others keep their last component, and
# time stamps go. Without this the kernel hash in a record would name the machine.
file(READ ${IN} text)
string(REGEX REPLACE "(\\.file\t[0-9]+ \"[^\"\n]*\"),[^\n]*" "\\1" text "${text}")
string(REPLACE "\"${VIEW}/" "\"" text "${text}")
string(REPLACE "\"${ROOT}/" "\"" text "${text}")
string(REGEX REPLACE "(\\.file\t[0-9]+ \")/[^\"\n]*/" "\\1" text "${text}")
file(WRITE ${OUT} "${text}")
file(REMOVE ${IN})

# Makes nvcc's PTX the same text wherever the checkout lies and whenever it was compiled: paths of the project's
# own files become relative to ROOT (also those found by way of VIEW), others keep their last component, and
# time stamps go, and so does nvcc's hash of the path in names such as _INTERNAL_6c9e219e_13_moe_gather_cu_bc64ddc5,
# which line information spells byte by byte. Without this the kernel hash in a record would name the machine.
file(READ ${IN} text)
string(REGEX REPLACE "(\\.file\t[0-9]+ \"[^\"\n]*\"),[^\n]*" "\\1" text "${text}")
string(REPLACE "\"${VIEW}/" "\"" text "${text}")
string(REPLACE "\"${ROOT}/" "\"" text "${text}")
string(REGEX REPLACE "(\\.file\t[0-9]+ \")/[^\"\n]*/" "\\1" text "${text}")
set(internal "95,73,78,84,69,82,78,65,76,95")  # _INTERNAL_
string(REPEAT ",[0-9]+" 8 hash)
string(REPEAT ",48" 8 zeros)
string(REGEX REPLACE "${internal}${hash}" "${internal}${zeros}" text "${text}")
file(WRITE ${OUT} "${text}")
file(REMOVE ${IN})

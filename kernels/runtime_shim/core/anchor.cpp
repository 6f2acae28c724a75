// The shared library of the room: CMake wants a source of its own, the linker takes the room whole.

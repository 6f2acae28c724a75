#include "shut/shut.h"

int User() { return Shut(); }

#include "open/open.h"

int User() { return Open(); }

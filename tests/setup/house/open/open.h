#ifndef OPEN_OPEN_H_
#define OPEN_OPEN_H_

int Open();

#endif  // OPEN_OPEN_H_

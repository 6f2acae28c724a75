#ifndef SHUT_SHUT_H_
#define SHUT_SHUT_H_

int Shut();

#endif  // SHUT_SHUT_H_

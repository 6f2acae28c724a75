#ifndef VOLTCHECK_TOOLS_INTERRUPT_H_
#define VOLTCHECK_TOOLS_INTERRUPT_H_

namespace voltcheck::tools {

/// From here on the first SIGINT or SIGTERM ends the process with status 4, after it removed what
/// is only half written: nothing is finished yet that could be saved. Call it before anything else;
/// it uses nothing but the C library, and may be called before other libraries are set up.
void HandleInterrupts();

/// While it lives, the first SIGINT or SIGTERM only asks for an orderly end; a second one ends the
/// process as above. Afterwards the work is done and the first one is too late: the process ends
/// with the status that it has. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool Requested();
};

}  // namespace voltcheck::tools

#endif  // VOLTCHECK_TOOLS_INTERRUPT_H_

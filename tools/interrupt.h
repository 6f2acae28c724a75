#ifndef VOLTCHECK_TOOLS_INTERRUPT_H_
#define VOLTCHECK_TOOLS_INTERRUPT_H_

namespace voltcheck::tools {

/// While it lives, the first SIGINT or SIGTERM only asks for an orderly end; a second one ends the
/// process as usual. One at a time.
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

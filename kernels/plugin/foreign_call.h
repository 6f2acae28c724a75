#ifndef VOLTCHECK_KERNELS_PLUGIN_FOREIGN_CALL_H_
#define VOLTCHECK_KERNELS_PLUGIN_FOREIGN_CALL_H_

#include <functional>
#include <string>

namespace voltcheck::plugin {

/// Calls host code of a plugin, in a process with one thread that nobody misses. Returns what went
/// wrong as a phrase: that it threw, or that it used up its time; empty when it came back. After
/// that it has been left in the middle of whatever it did, and the process should end soon.
///
/// The time is what passes outside a DeviceTime. Where nobody makes one (work that reaches the
/// device through the CUDA runtime), device work counts too.
std::string CallForeign(int seconds, const std::function<void()>& call);

/// While it lives, the clock of the CallForeign around it stands still.
class DeviceTime {
 public:
  DeviceTime();
  DeviceTime(const DeviceTime&) = delete;
  DeviceTime& operator=(const DeviceTime&) = delete;
  ~DeviceTime();

 private:
  unsigned left_;
};

/// Makes the call in a child process first. Returns how the child ended, as a phrase; empty when it
/// ended well. To be called before there are threads.
std::string EndsInChild(int seconds, const std::function<void()>& call);

}  // namespace voltcheck::plugin

#endif  // VOLTCHECK_KERNELS_PLUGIN_FOREIGN_CALL_H_

#ifndef VOLTCHECK_VERIFY_IN_CHILD_H_
#define VOLTCHECK_VERIFY_IN_CHILD_H_

#include <functional>
#include <string>

namespace voltcheck::verify {

/// Runs `work` in a child process and gives what it returned. For reading HDF5 files that came from
/// outside: a crafted one can crash the library or make it loop, which here ends the child and
/// throws Error (status 2) naming `path`. An Error that `work` throws is thrown on. Call it while
/// the process has one thread.
std::string InChild(const std::string& path, const std::function<std::string()>& work);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_IN_CHILD_H_

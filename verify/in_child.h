#ifndef VOLTCHECK_VERIFY_IN_CHILD_H_
#define VOLTCHECK_VERIFY_IN_CHILD_H_

#include <functional>
#include <string>
#include <string_view>

namespace voltcheck::verify {

/// Runs `work` in a child process and gives what it returned. For reading HDF5 files that came from
/// outside: a crafted one can crash the library or make it loop, which here ends the child and
/// throws Error (status 2) naming `path`. An Error that `work` throws is thrown on. Call it while
/// the process has one thread.
std::string InChild(const std::string& path, const std::function<std::string()>& work);

/// The same for results of any length: what `work` gives to its sink comes out of `sink` here, in
/// order, while the child goes on. What has come out before the child fails is part of no result.
using ChildSink = std::function<void(std::string_view part)>;
void StreamFromChild(const std::string& path, const std::function<void(const ChildSink&)>& work,
                     const ChildSink& sink);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_IN_CHILD_H_

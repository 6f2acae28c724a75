#ifndef VOLTCHECK_VERIFY_PROBLEM_SOURCE_H_
#define VOLTCHECK_VERIFY_PROBLEM_SOURCE_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case/problem.h"
#include "fixtures/fixture_file.h"
#include "verify/weight_cache.h"

namespace voltcheck::verify {

/// Turns cases into tensors: generated ones from the seed, fixture ones from files, each read once.
/// Cases share weights: those of a fixture, and generated ones as far as a cache of fixed size
/// holds them.
class ProblemSource {
 public:
  /// `folder` is where a case's fixture NAME is looked for, as NAME.h5.
  explicit ProblemSource(std::string folder);

  /// Reads a fixture file. Throws Error (status 2) when another one of the same name is loaded
  /// already.
  const fixtures::Fixture& Load(const std::string& path);
  /// Loads the fixtures that `cases` name. Throws Error (status 2) for one that is missing, or
  /// whose hash is not the one that the case asks for.
  void Preload(const std::vector<Case>& cases);
  /// The tensors of a case whose fixture, if any, is loaded. Thread-safe.
  Problem Make(const Case& c) const;
  /// Names and hashes of all loaded fixtures in name order, "name@hash name@hash"; empty without
  /// any.
  std::string Hashes() const;

 private:
  std::string folder_;
  std::map<std::string, fixtures::Fixture> by_name_;
  std::unique_ptr<WeightCache> weights_;
};

/// The start of a descriptor or grid that puts a case on a fixture: its shape and its name with
/// hash, every key followed by `separator`; the token count is left to the caller.
std::string FixtureKeys(const fixtures::Fixture& fixture, char separator);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_PROBLEM_SOURCE_H_

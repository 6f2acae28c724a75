#ifndef VOLTCHECK_KERNELS_IMPLEMENTATION_H_
#define VOLTCHECK_KERNELS_IMPLEMENTATION_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fixtures/case/declared_order.h"
#include "fixtures/case/error.h"
#include "fixtures/case/problem.h"
#include "kernels/device.h"
#include "kernels/plan.h"

namespace voltcheck::kernels {

/// What somebody else's code may compute, in the order of the stage. Everything before is always
/// the project's own.
enum class Part { kW13, kSilu, kW2, kOutput };
inline constexpr int kParts = 4;

/// A case that an implementation says it does not compute.
class Declined : public Error {
 public:
  Declined(const std::string& who, const std::string& why)
      : Error(ExitStatus::kBadInput, who + " does not compute it: " + why) {}
};

/// An implementation that contradicts itself: a mistake of whoever wrote it, never of a case.
class Contradiction : public Error {
 public:
  explicit Contradiction(const std::string& line) : Error(ExitStatus::kBadInput, line) {}
};

/// Somebody else's kernels, judged in the place of the project's own: a plugin or a recipe.
/// Everything here may be called from several threads.
class Implementation {
 public:
  using DeviceMaker = std::function<std::unique_ptr<Device>()>;

  virtual ~Implementation() = default;

  /// For people: "plugin libfoo.so (foo 1.2)".
  virtual std::string name() const = 0;
  /// For the record's arguments: " --plugin libfoo.so", without folders, with a hash where the
  /// modules do not tell.
  virtual std::string arguments() const = 0;
  /// The modules that its plans need, for KernelSet, behind the user's own. Its plans name their
  /// entries "MODULE#ENTRY".
  virtual std::vector<ModuleImage> modules() const = 0;

  /// The plan in which its code computes what it computes. Throws Declined where it does not,
  /// Contradiction, and what kernels::MakePlan throws.
  virtual Plan MakePlan(const Problem& problem) const = 0;
  /// Whether this part is its own, and how it adds there.
  virtual bool Computes(Part part) const = 0;
  virtual DeclaredOrder OrderOf(const Case& c, Part part) const = 0;

  /// A device on which its plans run: one that `make` makes, or, for code that may bring its
  /// process down, one that `make_in_child` makes in a process of its own.
  virtual std::unique_ptr<Device> MakeDevice(const DeviceMaker& make,
                                             const DeviceMaker& make_in_child) const {
    (void)make_in_child;
    return make();
  }
};

}  // namespace voltcheck::kernels

#endif  // VOLTCHECK_KERNELS_IMPLEMENTATION_H_

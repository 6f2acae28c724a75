#ifndef VOLTCHECK_TESTS_PROPERTIES_PLANTED_FAULTS_H_
#define VOLTCHECK_TESTS_PROPERTIES_PLANTED_FAULTS_H_

#include <functional>
#include <string>
#include <vector>

#include "faulty_device.h"
#include "verify/properties/search.h"

namespace voltcheck::properties::testing {

/// A fault that breaks one property: a device that falsifies, or an edit of the built-in PTX.
struct PlantedFault {
  std::string property;
  std::string name;
  Fault device;  ///< does nothing unless it is set
  /// Edited modules. Made when they are needed: there are many faults, and editing takes a while.
  std::function<std::vector<kernels::ModuleImage>()> overrides;
  std::string said;  ///< part of the reason that the property must give
};

/// At least one for every property.
std::vector<PlantedFault> PlantedFaults();

/// A search with the fault in it.
SearchOptions WithFault(const PlantedFault& fault);

}  // namespace voltcheck::properties::testing

#endif  // VOLTCHECK_TESTS_PROPERTIES_PLANTED_FAULTS_H_

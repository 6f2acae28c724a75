#ifndef VOLTCHECK_VERIFY_PROPERTIES_PROPERTY_TABLE_H_
#define VOLTCHECK_VERIFY_PROPERTIES_PROPERTY_TABLE_H_

#include <hdf5.h>

#include <vector>

#include "verify/property_record.h"

namespace voltcheck::properties {

/// Writes `/properties` into an open run file: one row a record, in order. docs/properties.md lists
/// the columns. Throws h5::Failure.
void WriteProperties(hid_t file, const std::vector<verify::PropertyRecord>& records);

}  // namespace voltcheck::properties

#endif  // VOLTCHECK_VERIFY_PROPERTIES_PROPERTY_TABLE_H_

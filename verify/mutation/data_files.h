#ifndef VOLTCHECK_VERIFY_MUTATION_DATA_FILES_H_
#define VOLTCHECK_VERIFY_MUTATION_DATA_FILES_H_

#include <string_view>

/// The texts beside this header, which the build embeds.
namespace voltcheck::mutation::data {

std::string_view Killers();     ///< killers.txt
std::string_view Honest();      ///< honest.txt
std::string_view Equivalent();  ///< equivalent.txt
std::string_view Premises();    ///< premises.txt

}  // namespace voltcheck::mutation::data

#endif  // VOLTCHECK_VERIFY_MUTATION_DATA_FILES_H_

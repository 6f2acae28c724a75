#ifndef VOLTCHECK_VERIFY_JOURNAL_RECORD_CODEC_H_
#define VOLTCHECK_VERIFY_JOURNAL_RECORD_CODEC_H_

#include <cstddef>
#include <span>
#include <string>

#include "verify/record.h"

namespace voltcheck::verify {

/// A record as compressed bytes, every figure with all its bits. Only the binary that wrote them
/// can be trusted to read them: a journal names it (verify/journal/identity.h).
std::string EncodeRecord(const CaseRecord& record);

/// The record that EncodeRecord was given. Throws Error (status 2) naming `where` for bytes that
/// are no record; whatever they are, it returns or throws.
CaseRecord DecodeRecord(const std::string& where, std::span<const std::byte> bytes);

}  // namespace voltcheck::verify

#endif  // VOLTCHECK_VERIFY_JOURNAL_RECORD_CODEC_H_

#include "kernels/cuda/wire.h"

#include <sys/socket.h>

#include <cerrno>

namespace voltcheck::cuda {
namespace {

bool SendAll(int socket, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = send(socket, bytes, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return false;
    }
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool ReceiveAll(int socket, void* data, std::size_t size) {
  auto* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = recv(socket, bytes, size, 0);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return false;
    }
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

bool SendMessage(int socket, const std::vector<std::byte>& bytes) {
  const std::uint64_t size = bytes.size();
  return SendAll(socket, &size, sizeof(size)) && SendAll(socket, bytes.data(), bytes.size());
}

bool ReceiveMessage(int socket, std::vector<std::byte>& bytes) {
  std::uint64_t size = 0;
  if (!ReceiveAll(socket, &size, sizeof(size))) {
    return false;
  }
  bytes.resize(static_cast<std::size_t>(size));
  return ReceiveAll(socket, bytes.data(), bytes.size());
}

void WireWriter::Append(const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  bytes_.insert(bytes_.end(), begin, begin + bytes);
}

}  // namespace voltcheck::cuda

// printf and assert of device code, for a host that prints what they say. This is compiled to PTX
// once and put behind the PTX of every module that calls one of them; nvcc's own declarations are
// renamed to these. (The simulator's own bodies drop the text.)
//
// Records in voltcheck_output: u32 bytes of the whole record, u32 kind (0 printf, 1 assert), u32
// bytes of the arguments; then the arguments as the caller laid them out, the format and, for every
// %s, its text, each with its zero byte. The host reads and formats them (core/device_output.h).

constexpr unsigned long long kOutputBytes = 1 << 20;  // CUDA's default FIFO
constexpr unsigned kHeader = 12;

extern "C" {
__device__ unsigned long long voltcheck_output_end = 0;
__device__ __align__(8) unsigned char voltcheck_output[kOutputBytes];

__device__ static unsigned Length(const char* text) {
  unsigned n = 0;
  while (text[n] != 0) {
    ++n;
  }
  return n + 1;
}

__device__ static bool In(char c, const char* set) {
  for (; *set != 0; ++set) {
    if (*set == c) {
      return true;
    }
  }
  return false;
}

// Takes the next argument of `size` bytes behind `at`; returns its end.
__device__ static unsigned Take(const unsigned char* arguments, unsigned at, unsigned size,
                                unsigned char* out) {
  at = (at + size - 1) / size * size;
  for (unsigned i = 0; out != nullptr && i < size; ++i) {
    out[at + i] = arguments[at + i];
  }
  return at + size;
}

// Walks the conversions of `format`; returns the bytes of all arguments. Counts the bytes of %s
// texts in `strings`. With `out` it copies: the arguments there, each at its place (the padding
// between them was never written), and the texts to `texts`.
__device__ static unsigned Walk(const char* format, const unsigned char* arguments,
                                unsigned* strings, unsigned char* out, unsigned char* texts) {
  unsigned at = 0;
  for (const char* c = format; *c != 0; ++c) {
    if (*c != '%') {
      continue;
    }
    ++c;
    bool wide = false;
    while (*c != 0 && In(*c, "-+ #0123456789.*hljztL")) {
      if (*c == '*') {
        at = Take(arguments, at, 4, out);
      }
      wide |= In(*c, "ljzt");
      ++c;
    }
    if (*c == 0) {
      break;
    }
    if (*c == '%') {
      continue;
    }
    if (In(*c, "diouxXc") && !wide) {
      at = Take(arguments, at, 4, out);
      continue;
    }
    at = Take(arguments, at, 8, out);
    if (*c == 's') {
      const char* text = *reinterpret_cast<const char* const*>(arguments + at - 8);
      const unsigned bytes = text == nullptr ? 1 : Length(text);
      if (out != nullptr) {
        for (unsigned i = 0; i < bytes; ++i) {
          texts[*strings + i] = text == nullptr ? 0 : text[i];
        }
      }
      *strings += bytes;
    }
  }
  return at;
}

__device__ static int Emit(unsigned kind, const char* format, const unsigned char* arguments) {
  unsigned strings = 0;
  const unsigned count = Walk(format, arguments, &strings, nullptr, nullptr);
  const unsigned format_bytes = Length(format);
  const unsigned bytes = kHeader + count + format_bytes + strings;
  const unsigned long long begin = atomicAdd(&voltcheck_output_end, (bytes + 7ull) / 8 * 8);
  if (begin + bytes > kOutputBytes) {
    return -1;
  }
  unsigned char* out = voltcheck_output + begin;
  reinterpret_cast<unsigned*>(out)[0] = bytes;
  reinterpret_cast<unsigned*>(out)[1] = kind;
  reinterpret_cast<unsigned*>(out)[2] = count;
  unsigned char* copied = out + kHeader;
  unsigned char* text = copied + count;
  for (unsigned i = 0; i < format_bytes; ++i) {
    text[i] = format[i];
  }
  strings = 0;
  Walk(format, arguments, &strings, copied, text + format_bytes);
  return 0;
}

__device__ int voltcheck_vprintf(const char* format, const unsigned char* arguments) {
  return Emit(0, format, arguments);
}

__device__ void voltcheck___assertfail(const char* message, const char* file, unsigned line,
                                       const char* function, unsigned long long) {
  struct {
    const char* file;
    unsigned line;
    const char* function;
    unsigned block[3];
    unsigned thread[3];
    const char* message;
  } arguments = {file,
                 line,
                 function,
                 {blockIdx.x, blockIdx.y, blockIdx.z},
                 {threadIdx.x, threadIdx.y, threadIdx.z},
                 message};
  Emit(1, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
       reinterpret_cast<const unsigned char*>(&arguments));
  asm volatile("trap;");
}
}

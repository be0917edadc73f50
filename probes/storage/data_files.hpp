// Files full of data that no device can compress, and what of them is in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace fleetbench {

// Noise, the same for the same seed.
void fill_with_noise(std::span<std::byte> bytes, std::uint64_t seed);

// A new file of noise, on the disk when this returns. Throws std::runtime_error naming `path` and
// what the system said ("No space left on device").
void write_data_file(const std::filesystem::path& path, std::uint64_t bytes, std::uint64_t seed);

// Asks the kernel to forget the content of a file that is on the disk; true where at most a
// hundredth of it is still in memory afterwards. False for tmpfs, where the file is memory.
bool drop_from_cache(const std::filesystem::path& path);

// Share of the file that is in memory; nothing where the kernel does not say.
std::optional<double> cached_share(const std::filesystem::path& path);

// Whether files in `folder` can be read past the cache (O_DIRECT). Tries it with a file of its own.
bool direct_io_works(const std::filesystem::path& folder);

// Throws std::runtime_error "WHAT PATH: what errno says".
[[noreturn]] void throw_errno(const char* what, const std::filesystem::path& path);

}  // namespace fleetbench

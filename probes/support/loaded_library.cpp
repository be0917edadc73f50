#include "probes/support/loaded_library.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstring>
#include <span>

namespace fleetbench {
namespace {

struct Search {
  std::string_view name;
  std::string build_id;
};

using Bytes = std::span<const unsigned char>;

// Notes are a header, a name and a content, the latter two filled up to whole words.
std::string build_id_in(Bytes notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
    const std::size_t name_end = sizeof header + padded(header.n_namesz);
    const std::size_t end = name_end + padded(header.n_descsz);
    if (end > notes.size()) {
      return "";
    }
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(notes.data() + sizeof header, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      std::string id;
      for (const unsigned char byte : notes.subspan(name_end, header.n_descsz)) {
        id += fmt::format("{:02x}", byte);
      }
      return id;
    }
    notes = notes.subspan(end);
  }
  return "";
}

int look_at(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  const std::string_view path = object->dlpi_name;
  if (!path.substr(path.rfind('/') + 1).starts_with(search.name)) {
    return 0;
  }
  for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (part.p_type == PT_NOTE && search.build_id.empty()) {
      search.build_id = build_id_in(Bytes(
          reinterpret_cast<const unsigned char*>(object->dlpi_addr + part.p_vaddr), part.p_memsz));
    }
  }
  return 1;
}

}  // namespace

std::string build_id_of_loaded(std::string_view name) {
  Search search{.name = name, .build_id = {}};
  dl_iterate_phdr(look_at, &search);
  return search.build_id;
}

}  // namespace fleetbench

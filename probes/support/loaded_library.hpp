// Which copy of a shared library this process runs with.
#pragma once

#include <string>
#include <string_view>

namespace fleetbench {

// The build id (ELF note NT_GNU_BUILD_ID, hexadecimal) of the loaded library whose file name begins
// with `name` ("libm.so"): two libraries with the same id are the same. "" where none is loaded, as
// when it is part of the program, and where it carries no id.
std::string build_id_of_loaded(std::string_view name);

}  // namespace fleetbench

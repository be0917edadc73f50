# Writes OUTPUT, a C++ file that defines FUNCTION() returning the FILES (separated by |) as text.
string(REPLACE "|" ";" FILES "${FILES}")
set(body "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  string(REGEX REPLACE "(\\.schema)?\\.json$" "" name "${name}")
  file(READ "${file}" text)
  string(APPEND body "      {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"results-schema/embedded.hpp\"

namespace fleetbench {

const std::vector<EmbeddedFile>& ${FUNCTION}() {
  static const std::vector<EmbeddedFile> files{
${body}  };
  return files;
}

}  // namespace fleetbench
")

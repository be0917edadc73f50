// Are the images on disk those that were made?
#pragma once

#include "probes/images/image_set.hpp"

namespace fleetbench::images {

// Reads all forms, and so brings them into the page cache; decodes what the first of them gives,
// and compares the bytes of the others. On `threads` threads, so that a core that computes wrong
// results has a chance to show. Throws CorruptImage or std::runtime_error naming the file,
// WrongResult where its bytes or pixels are not those that were made.
void verify(const ImageSet& set, int threads);

}  // namespace fleetbench::images

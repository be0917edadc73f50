// MPI unloads its modules at the end, and what they leaked has no name then that a suppression
// could match. Linked into sanitized programs that use MPI, where it comes before that of the C
// library.
extern "C" int dlclose(void* /*handle*/) { return 0; }

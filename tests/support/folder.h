#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

/* Removes a folder and all that is in it, following no link; 0, or -1. */
int folder_remove(const char *path);

#endif

/* Put before the C library (LD_PRELOAD): lets calls that concern one folder fail from a given one on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char armed_call[16], armed_folder[PATH_MAX];
static int calls_left, armed_errno;

/* The calls named so on files below the folder fail with the errno, after some that do not; returns how many were still left. */
int arm(const char *call, int after, int number, const char *folder) {
    int left = calls_left;
    snprintf(armed_call, sizeof armed_call, "%s", call);
    snprintf(armed_folder, sizeof armed_folder, "%s", folder);
    calls_left = after;
    armed_errno = number;
    return left;
}

static int fails(const char *call, const char *path) {
    if (strcmp(call, armed_call) || strncmp(path, armed_folder, strlen(armed_folder))) return 0;
    if (calls_left-- > 0) return 0;
    errno = armed_errno;
    return 1;
}

static int fails_on(const char *call, int descriptor) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(call, path);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "write");
    return fails_on("write", descriptor) ? -1 : real(descriptor, bytes, count);
}

int fsync(int descriptor) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fsync");
    return fails_on("fsync", descriptor) ? -1 : real(descriptor);
}

int rename(const char *from, const char *to) {
    static int (*real)(const char *, const char *);
    if (!real) real = dlsym(RTLD_NEXT, "rename");
    return fails("rename", from) ? -1 : real(from, to);
}

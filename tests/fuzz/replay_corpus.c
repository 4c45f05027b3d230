/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over the files of its corpus, whole and cut short at every byte, without a
 * fuzzer: what a fuzzer once found stays found, under every compiler and sanitizer.
 *
 *     fuzz_x tests/fuzz/corpus/x
 */
#include "fuzz_input.h"

#include <dirent.h>

#define REPLAY_BYTES_MAX 65536u
/* Longer files are run whole only. */
#define REPLAY_CUT_MAX 256u

static void replay_file(const char *path)
{
    static uint8_t bytes[REPLAY_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    FUZZ_WANTS(file != NULL);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    FUZZ_WANTS(ferror(file) == 0);
    fclose(file);
    for (size_t cut = size < REPLAY_CUT_MAX ? 0 : size; cut <= size; cut++) {
        uint8_t *exact = malloc(cut + (cut == 0)); /* so that reading on is found */
        FUZZ_WANTS(exact != NULL);
        memcpy(exact, bytes, cut);
        LLVMFuzzerTestOneInput(exact, cut);
        free(exact);
    }
}

int main(int argc, char **argv)
{
    unsigned files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        FUZZ_WANTS(folder != NULL);
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            char path[4096];
            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            fprintf(stderr, "%s\n", path); /* the last one named is the one that fails */
            replay_file(path);
            files++;
        }
        closedir(folder);
    }
    printf("%u passed, %u failed, 0 skipped\n", files, files == 0);
    return files == 0;
}

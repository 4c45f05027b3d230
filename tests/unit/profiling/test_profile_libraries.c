/* SPDX-License-Identifier: Apache-2.0 */
// crest-test: sanitizers=no timeout=600
/*
 * Samples within libraries reach the function that called them: of libcrypto, which is assembler
 * written by hand for the most part, of zlib, malloc and memcpy. Under a sanitizer
 * its own frames and handlers stand between.
 */
#define _GNU_SOURCE
#include "support/profile_fixture.h"

#include <dlfcn.h>
#include <zlib.h>

/* Of one burner. At 1,000 Hz a kernel of 250 ticks gives a sample a weight of four. */
#define SAMPLES 1600u

static volatile int burning;
static unsigned char in[65536], out[131072];

/* ---- libcrypto, as far as its public functions are found ---- */

static struct {
    unsigned char *(*sha256)(const unsigned char *, size_t, unsigned char *);
    void *(*cipher_new)(void);
    const void *(*aes_256_gcm)(void);
    int (*cipher_begin)(void *, const void *, void *, const unsigned char *, const unsigned char *);
    int (*cipher)(void *, unsigned char *, int *, const unsigned char *, int);
    void (*cipher_free)(void *);
    void *(*bn_context)(void);
    void *(*bn_read)(const unsigned char *, int, void *);
    int (*bn_power)(void *, const void *, const void *, const void *, void *);
} crypto;

static int crypto_open(void)
{
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return 0;
#define CRYPTO(member, name) *(void **)&crypto.member = dlsym(library, name)
    CRYPTO(sha256, "SHA256");
    CRYPTO(cipher_new, "EVP_CIPHER_CTX_new");
    CRYPTO(aes_256_gcm, "EVP_aes_256_gcm");
    CRYPTO(cipher_begin, "EVP_EncryptInit_ex");
    CRYPTO(cipher, "EVP_EncryptUpdate");
    CRYPTO(cipher_free, "EVP_CIPHER_CTX_free");
    CRYPTO(bn_context, "BN_CTX_new");
    CRYPTO(bn_read, "BN_bin2bn");
    CRYPTO(bn_power, "BN_mod_exp");
#undef CRYPTO
    return crypto.sha256 != NULL && crypto.cipher != NULL && crypto.bn_power != NULL;
}

/* ---- what is burnt ---- */

__attribute__((noinline)) static void task_of_sha256(void)
{
    for (int i = 0; i < 20; i++)
        crypto.sha256(in, sizeof in, out);
}

__attribute__((noinline)) static void task_of_aes(void)
{
    int bytes;
    void *context = crypto.cipher_new();
    crypto.cipher_begin(context, crypto.aes_256_gcm(), NULL, in, in + 64);
    for (int i = 0; i < 100; i++)
        crypto.cipher(context, out, &bytes, in, sizeof in);
    crypto.cipher_free(context);
}

/* A power modulo 2,048 bits, as RSA's signatures are. */
__attribute__((noinline)) static void task_of_powers(void)
{
    static void *number[4], *context;
    if (context == NULL) {
        context = crypto.bn_context();
        in[856] |=
            1; /* the last byte of the modulus, which is odd: Montgomery's way, in assembler */
        for (int i = 0; i < 4; i++)
            number[i] = crypto.bn_read(in + 300 * i + 1, 256, NULL);
    }
    crypto.bn_power(number[3], number[0], number[1], number[2], context);
    __asm__ volatile("" : : : "memory"); /* it is called, not jumped to */
}

__attribute__((noinline)) static void task_of_zlib(void)
{
    uLongf bytes = sizeof out;
    compress(out, &bytes, in, sizeof in);
    __asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) static void task_of_malloc(void)
{
    void *pieces[64];
    for (int i = 0; i < 300; i++) {
        for (size_t j = 0; j < LENGTH(pieces); j++)
            pieces[j] = malloc(16 + j * 331);
        for (size_t j = 0; j < LENGTH(pieces); j++)
            free(pieces[j * 29 % LENGTH(pieces)]);
    }
}

__attribute__((noinline)) static void task_of_memcpy(void)
{
    for (int i = 0; i < 400; i++) {
        memcpy(out, in, sizeof in);
        __asm__ volatile("" : : "r"(out) : "memory");
    }
}

static void *burn_task(void *task)
{
    void (*function)(void);
    *(void **)&function = task;
    crest_profile_thread();
    while (burning)
        function();
    return NULL;
}

/* ---- the test ---- */

/* How many of a hundred samples of a burner have its function in their stacks. */
static double reach(const char *name, void (*task)(void))
{
    pthread_t thread;
    burning = 1;
    crest_profile *profile = begin(CREST_PROFILE_CPU);
    pthread_create(&thread, NULL, burn_task, *(void **)&task);
    wait_for_samples(SAMPLES);
    burning = 0;
    pthread_join(thread, NULL);
    text made = folded(profile);
    /* all but this thread's, which has main in its stacks */
    double all = weight(&made, "", NULL) - weight(&made, ";main;", NULL);
    double reached = weight(&made, ";burn_task;", name);
    assert_true(all > 0);
    if (reached < 0.99 * all)
        print_message("%s", made.bytes);
    print_message("%s: %.2f %% of %.0f samples\n", name, 100 * reached / all, all / 1e6);
    free(made.bytes);
    return 100 * reached / all;
}

static int start(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i * 7 ^ i >> 3 ^ 1);
    return crest_profiler_start(&(crest_profiler_options){.hz = 1000}, NULL) == CREST_OK ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    return crest_profiler_stop(NULL) == CREST_OK ? 0 : -1;
}

static void test_libcrypto(void **state)
{
    (void)state;
    if (!crypto_open()) {
        print_message("skipped: there is no libcrypto.so.3\n");
        skip();
    }
    assert_true(reach("task_of_sha256", task_of_sha256) >= 99);
    assert_true(reach("task_of_aes", task_of_aes) >= 99);
    /* told, not held to 99 %: which assembler it is depends on the processor and the release, and
       the tables of some are wrong within their loops */
    (void)reach("task_of_powers", task_of_powers);
}

static void test_libc_and_zlib(void **state)
{
    (void)state;
    assert_true(reach("task_of_zlib", task_of_zlib) >= 99);
    assert_true(reach("task_of_malloc", task_of_malloc) >= 99);
    assert_true(reach("task_of_memcpy", task_of_memcpy) >= 99);
}

int main(void)
{
    alarm(580); /* a watchdog: what hangs ends with SIGALRM */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_libcrypto, start, stop),
        cmocka_unit_test_setup_teardown(test_libc_and_zlib, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

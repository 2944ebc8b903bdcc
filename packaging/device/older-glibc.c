/* SPDX-License-Identifier: Apache-2.0 */
/* For a program that has to run with a glibc before 2.38 although the Swift runtime inside it was compiled with a newer one's headers:
   the functions that those headers put in place of older ones, and two that are new in 2.38. packaging/cross links them, from an archive,
   where the C library has none. No header is included, since it would rename the functions again. */
typedef __SIZE_TYPE__ size_t;

long strtol(const char *text, char **end, int base);
unsigned long strtoul(const char *text, char **end, int base);
long long strtoll(const char *text, char **end, int base);
unsigned long long strtoull(const char *text, char **end, int base);
int __isoc99_vsscanf(const char *text, const char *format, __builtin_va_list arguments);
size_t strlen(const char *text);
void *memcpy(void *to, const void *from, size_t count);

/* C23's also read binary numbers with the prefix 0b for the bases 0 and 2, which the runtime does not rely on: other systems' have no such. */
long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return strtoul(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return strtoull(text, end, base); }

int __isoc23_sscanf(const char *text, const char *format, ...) {
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    int count = __isoc99_vsscanf(text, format, arguments);
    __builtin_va_end(arguments);
    return count;
}

/* strlcpy(3): returns the length of `from`; cut off where that is `size` or more. */
size_t strlcpy(char *to, const char *from, size_t size) {
    size_t length = strlen(from);
    if (size > 0) {
        size_t copied = length < size ? length : size - 1;
        memcpy(to, from, copied);
        to[copied] = '\0';
    }
    return length;
}

/* strlcat(3): returns the length that was wanted. */
size_t strlcat(char *to, const char *from, size_t size) {
    size_t length = 0;
    while (length < size && to[length] != '\0') length++;
    return length + strlcpy(to + length, from, size - length);
}

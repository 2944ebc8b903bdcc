/* SPDX-License-Identifier: Apache-2.0 */
/* Copies an archive of ELF objects without the flag that makes the linker keep a section that nothing refers to.
     unpin FROM TO
   The compiler sets that flag (SHF_GNU_RETAIN) for all public functions of a library, because another program may look for them by
   name. It is cleared for sections whose name begins with a dot, which nothing but references finds, and for those that debuggers alone
   read. It stays for the sections that the runtime looks through from end to end: types, protocols and conformances. */
#include <ar.h>
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SHF_GNU_RETAIN
#define SHF_GNU_RETAIN (1 << 21)
#endif

static bool is_found_by_reference(const char *name) {
    static const char *const others[] = {"swift5_assocty", "swift5_builtin", "swift5_capture", "swift5_fieldmd", "swift5_mpenum"};
    if (name[0] == '.') return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(name, others[i]) == 0) return true;
    }
    return false;
}

/* Of an object for another kind of machine nothing is changed. Returns false for one that is cut off. */
static bool unpin(char *object, size_t size) {
    Elf64_Ehdr head;
    if (size < sizeof head) return true;
    memcpy(&head, object, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB) return true;
    if (head.e_shoff == 0) return true;
    if (head.e_shoff > size - sizeof(Elf64_Shdr)) return false;

    /* The first section has the numbers that are too large for the header. */
    Elf64_Shdr first, names, section;
    memcpy(&first, object + head.e_shoff, sizeof first);
    size_t count = head.e_shnum != 0 ? head.e_shnum : first.sh_size;
    size_t index = head.e_shstrndx != SHN_XINDEX ? head.e_shstrndx : first.sh_link;
    if (count > (size - head.e_shoff) / sizeof section || index >= count) return false;
    memcpy(&names, object + head.e_shoff + index * sizeof names, sizeof names);
    if (names.sh_offset > size || names.sh_size > size - names.sh_offset || names.sh_size == 0) return false;
    if (object[names.sh_offset + names.sh_size - 1] != '\0') return false;

    for (size_t i = 0; i < count; i++) {
        char *place = object + head.e_shoff + i * sizeof section;
        memcpy(&section, place, sizeof section);
        if ((section.sh_flags & SHF_GNU_RETAIN) == 0) continue;
        if (section.sh_name >= names.sh_size) return false;
        if (!is_found_by_reference(object + names.sh_offset + section.sh_name)) continue;
        section.sh_flags &= ~(Elf64_Xword)SHF_GNU_RETAIN;
        memcpy(place, &section, sizeof section);
    }
    return true;
}

static bool unpin_all(char *archive, size_t size) {
    if (size < SARMAG || memcmp(archive, ARMAG, SARMAG) != 0) return false;
    struct ar_hdr head;
    for (size_t at = SARMAG; at + sizeof head <= size;) {
        memcpy(&head, archive + at, sizeof head);
        if (memcmp(head.ar_fmag, ARFMAG, sizeof head.ar_fmag) != 0) return false;
        head.ar_fmag[0] = '\0'; /* ends the number before it */
        size_t length = strtoul(head.ar_size, NULL, 10);
        at += sizeof head;
        if (length > size - at || !unpin(archive + at, length)) return false;
        at += length + length % 2;
    }
    return true;
}

static int fail(const char *what, const char *path) {
    fprintf(stderr, "unpin: %s %s\n", what, path);
    return 1;
}

int main(int count, char **arguments) {
    if (count != 3) return fail("needs two names:", "FROM TO");
    FILE *file = fopen(arguments[1], "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) return fail("cannot read", arguments[1]);
    long size = ftell(file);
    char *archive = size > 0 ? malloc((size_t)size) : NULL;
    if (archive == NULL || fseek(file, 0, SEEK_SET) != 0 || fread(archive, (size_t)size, 1, file) != 1) return fail("cannot read", arguments[1]);
    fclose(file);
    if (!unpin_all(archive, (size_t)size)) return fail("does not understand", arguments[1]);

    file = fopen(arguments[2], "wb");
    if (file == NULL || fwrite(archive, (size_t)size, 1, file) != 1 || fclose(file) != 0) return fail("cannot write", arguments[2]);
    free(archive);
    return 0;
}

/* Sources that more than one file of tests makes objects of. */
#ifndef TESTS_UNIT_OBJECT_SOURCES_H
#define TESTS_UNIT_OBJECT_SOURCES_H

/* Two that use each other's data in every way that C has. */
static const char data_source_1[] =
    "extern int shared; int common_one[100] __attribute__((common));"
    "int big __attribute__((common)); static int zeros[50]; int initialised = 7;"
    "extern const char *const names[]; const char *text(void){return \"alpha tail\";}"
    "int *pointer = &initialised; static int *inner = &zeros[3];"
    "_Thread_local int tls_zero; _Thread_local int tls_one = 11; extern _Thread_local int tls_two;"
    "int second(int); static int started; "
    "__attribute__((constructor)) static void start(void){started = 1000;}"
    "double half(double x){return x * 0.5;}"
    "int entry(void){ common_one[5] = 1; *inner = 4; tls_zero += 2;"
    "return shared + common_one[5] + zeros[3] + *pointer + (names[1][0] == 'b') + "
    "(text()[6] == 't')"
    " + tls_zero + tls_one + tls_two + second(3) + started + (int)half(8.0) + big; }";

static const char data_source_2[] =
    "int shared = 100; long big_user(void); int common_one[100] __attribute__((common));"
    "long big __attribute__((common));"
    "const char *const names[] = {\"alpha tail\", \"beta\", \"x\"};"
    "static int zeros[9]; _Thread_local int tls_two = 13; static int rows[] = {5, 6};"
    "__attribute__((weak)) int weak_one(void){return 1;}"
    "int second(int n){ zeros[1] = 1;"
    " switch(n){case 0: return 9; case 1: return 27; case 2: return "
    "rows[1]; case 3: return 10000 + zeros[1]; case 4: return 77; case 5: return 1 + weak_one();"
    "case 6: return (int)big; default: return 0;} }";

/* One with a group of sections, of a number and what stands behind the group. */
static const char group_source[] =
    ".section .text.f,\"axG\",@progbits,sig,comdat\n.weak f\n.cfi_startproc\n"
    "f: nop\n.Lf: ret\n.cfi_endproc\n"
    ".section .rodata.f,\"aG\",@progbits,sig,comdat\n.long %d\n"
    ".section .links,\"ao\",@progbits,.text.f\n.quad 1\n%s";

#endif

/* The data of op types that the compiler comes with: the files of ir/optypes/ops, as text. */
#ifndef IR_OPTYPES_OP_DATA_H
#define IR_OPTYPES_OP_DATA_H

/* One type: the value of its name in the file of its family. */
struct op_data {
    const char *name, *family, *json;
};

/* In the order of the files and their texts; the last one has no name. */
extern const struct op_data op_data[];

#endif

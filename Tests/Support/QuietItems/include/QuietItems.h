#ifndef QUIET_ITEMS_H
#define QUIET_ITEMS_H

// Turns the warnings of unused items off in this process and its children, before its main function.
//
// Many tests make items that they never add to a loop.
void quiet_items(void);

#endif

// libedit's functions for settings are variadic, which Swift cannot call. This header wraps each
// setting that the prompt uses in a function without logic.
#ifndef COZDB_CLIBEDIT_SHIM_H
#define COZDB_CLIBEDIT_SHIM_H

#include <histedit.h>
#include <stdio.h>

static inline EditLine *cozEditStart(const char *program) {
    return el_init(program, stdin, stdout, stderr);
}

static inline int cozEditUsePrompt(EditLine *editor, char *(*text)(EditLine *)) {
    return el_set(editor, EL_PROMPT, text);
}

static inline int cozEditUseKeys(EditLine *editor, const char *name) {
    return el_set(editor, EL_EDITOR, name);
}

static inline int cozEditUseReader(EditLine *editor, int (*read)(EditLine *, wchar_t *)) {
    return el_set(editor, EL_GETCFN, read);
}

static inline int cozEditAddFunction(EditLine *editor, const char *name, const char *help,
                                     unsigned char (*function)(EditLine *, int)) {
    return el_set(editor, EL_ADDFN, name, help, function);
}

static inline int cozEditBind(EditLine *editor, const char *key, const char *command) {
    return el_set(editor, EL_BIND, key, command, (char *)0);
}

// Binds a key of vi's command mode.
static inline int cozEditBindCommandKey(EditLine *editor, const char *key, const char *command) {
    return el_set(editor, EL_BIND, "-a", key, command, (char *)0);
}

static inline int cozEditUseHistory(EditLine *editor, History *entries) {
    return el_set(editor, EL_HIST, history, entries);
}

// Switches the terminal to the editor's mode (1) or back to its original mode (0).
static inline int cozEditSetTerminalMode(EditLine *editor, int isEditing) {
    return el_set(editor, EL_PREP_TERM, isEditing);
}

// Sets a value of the terminal's description, for example its columns ("co").
static inline int cozEditSetTerminalValue(EditLine *editor, const char *name, const char *value) {
    return el_set(editor, EL_SETTC, name, value, (char *)0);
}

static inline int cozEditRefresh(EditLine *editor) {
    return el_set(editor, EL_REFRESH);
}

static inline void cozEditSetOwner(EditLine *editor, void *owner) {
    el_set(editor, EL_CLIENTDATA, owner);
}

static inline void *cozEditOwner(EditLine *editor) {
    void *owner = 0;
    el_get(editor, EL_CLIENTDATA, &owner);
    return owner;
}

static inline int cozHistorySetSize(History *entries, int count) {
    HistEvent event;
    return history(entries, &event, H_SETSIZE, count);
}

// Keeps consecutive equal entries once.
static inline int cozHistorySetUnique(History *entries) {
    HistEvent event;
    return history(entries, &event, H_SETUNIQUE, 1);
}

static inline int cozHistoryAdd(History *entries, const char *line) {
    HistEvent event;
    return history(entries, &event, H_ENTER, line);
}

#endif

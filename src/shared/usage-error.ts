// A file of its own, because every command needs it and hardly any needs the configuration.

/** Something is wrong with how Holdfast was started; said in one line, exit code 2. */
export class UsageError extends Error {}

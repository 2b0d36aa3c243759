// How sentences for people name a node or an allocation.

/** Its name, or its uuid if it has none. */
export const called = ({ name, uuid }: { name: string | null; uuid: string }): string => name ?? uuid

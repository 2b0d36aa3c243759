// Traits as people call them.

/** `CUSTOM_NVLINK` is `NVLINK`; standard ones keep their whole name. */
export const traitShown = (trait: string): string => trait.replace(/^CUSTOM_/, '')

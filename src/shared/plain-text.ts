// Text from elsewhere, so that it can be kept and shown.

/** PostgreSQL keeps no NUL, and terminals need no control characters but tabs and lines; half a pair is no text either. */
export const plainText = (text: string): string => text.replaceAll(/(?![\t\n])\p{Cc}/gu, ' ').toWellFormed()

// The URL of a request as the log may have it.

/** What follows these words is a secret, in a path or in a query: whoever has it gets in, or is the keeper. */
const SECRET = /(\/calendar\/+|\/media\/+[^/?#]+\/+)[^/?#]+|([?&](?:ticket|keeper)=)[^&#]*/gi

/** Letters that are written as %63: the words above are understood in that form too. */
const ENCODED_LETTER = /%[46][1-9a-f]|%[57][0-9a]/gi

export const loggedUrl = (url: string): string =>
  url.replaceAll(ENCODED_LETTER, decodeURIComponent).replaceAll(SECRET, '$1$2…')

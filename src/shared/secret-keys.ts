// Which keys of free-form fields hold secrets.

/** Matches text that has such a key, too. */
export const SECRET_KEY = /pass(word|phrase)?(?="|$)|password|pswd|secret|token|sslkey|fernetkey|private_key|kg_key/i

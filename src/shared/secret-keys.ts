// What in free-form fields is a secret: values of some keys, and parts of URLs.

/** Matches text that has such a key, too. */
export const SECRET_KEY =
  /pass(word|phrase|wd|code)?(?="|$)|passw|passphrase|passcode|pswd|pwd|secret|token|credential|community|(api|access|auth|priv|private|ssl|fernet|kg)_?-?key/i

/** Query parameters that sign a URL, besides those that are called like secrets: they are what it takes to use it. */
const SIGNS = /(^|[-_])(sig|signature|key|auth|hmac|jwt|sas)$/i

const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>]*@/gi
const PARAMETER = /([?&;])([^\s=&;#"'<>?]+)=([^\s&;#"'<>]+)/g

export const MASK = '******'

/** The text without what its URLs have of secrets: users and passwords, and parameters that are tokens or signatures. */
export function withoutUrlSecrets(text: string): string {
  if (!text.includes('://')) return text
  return text.replace(USER_INFO, `$1${MASK}@`).replace(PARAMETER, (whole, mark: string, key: string) => {
    return SECRET_KEY.test(key) || SIGNS.test(key) ? `${mark}${key}=${MASK}` : whole
  })
}

// Time and chance with what every platform has, browsers too: for the client library.
export const plainClock = {
  now: () => Date.now(),
  newUuid: () => crypto.randomUUID() as string,
  /** Hexadecimal. */
  newSecret: (bytes: number) =>
    Array.from(crypto.getRandomValues(new Uint8Array(bytes)), byte => byte.toString(16).padStart(2, '0')).join(''),
}

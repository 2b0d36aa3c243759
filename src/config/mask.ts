// Addresses without their passwords.

/** An address fit for logs. */
export function mask(database: string): string {
  // Up to the last @: a password may contain some itself, and too much hidden is better than too little.
  return database.replace(/(:\/\/[^:@/]*):.*@/, '$1:***@').replace(/(password=)[^&]*/gi, '$1***')
}

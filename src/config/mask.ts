// Hides passwords in addresses.

/** An address that is safe to log. */
export function mask(database: string): string {
  // Up to the last @, because a password may contain @. It is better to hide too much than too little.
  return database.replace(/(:\/\/[^:@/]*):.*@/, '$1:***@').replace(/(password=)[^&]*/gi, '$1***')
}

// Exchanges that didn't match their OpenAPI document. Files in one process share this list; each must leave it empty.
export const undocumented: unknown[] = []

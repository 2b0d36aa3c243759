// Where the Compute API is mounted.
export const PREFIX = '/compute'

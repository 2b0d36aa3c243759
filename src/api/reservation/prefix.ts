// Where the reservation API is mounted.
export const PREFIX = '/reservation'

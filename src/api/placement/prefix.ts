// Where Placement is mounted.
export const PREFIX = '/placement'

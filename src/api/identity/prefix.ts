// Where the identity API is mounted.
export const PREFIX = '/identity'

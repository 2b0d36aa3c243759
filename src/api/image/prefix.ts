// Where the Image API is mounted.
export const PREFIX = '/image'

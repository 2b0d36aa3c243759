// Where the operators' API is mounted.
export const PREFIX = '/holdfast/v1'

// Where the bare metal API is mounted.
export const PREFIX = '/baremetal'

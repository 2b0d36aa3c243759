// The limits of hardware, each with its reason.

export const hardwareLimits = {
  // Steps in a deploy template or in one request: more than anybody has thought of for a machine.
  stepsMax: 256,
  // Logical disks of one machine: a controller makes 64 to 240 of them.
  logicalDisksMax: 256,
} as const

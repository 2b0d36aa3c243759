// The problems of bare metal, and their messages.

export const METAL_PROBLEMS = {
  invalid_parameter: (f: { reason: string }) => f.reason,
  invalid_name_in_path: (f: { what: string; name: string }) => `Expected UUID or name for ${f.what}: ${f.name}.`,
  version_malformed: (f: { given: string }) => `Invalid value for X-OpenStack-Ironic-API-Version header: ${f.given}`,
  version_unsupported: (f: { given: string; oldest: string; newest: string }) =>
    `Version ${f.given} was requested but the requested API version ${f.given} is not supported by this server. ` +
    `The supported version range is: [${f.oldest}, ${f.newest}].`,
  version_too_old: (f: { reason: string }) => f.reason,
  metal_not_found: (f: { what: string; name: string }) => `${f.what} ${f.name} could not be found.`,
  node_trait_not_found: (f: { name: string; node: string }) => `Node ${f.node} doesn't have a trait '${f.name}'`,
  bios_setting_not_found: (f: { name: string; node: string }) =>
    `Node ${f.node} doesn't have a BIOS setting '${f.name}'`,
  interface_unsupported: (f: { driver: string; name: string }) =>
    `Driver ${f.driver} does not support ${f.name} (disabled or not implemented).`,
  metal_exists: (f: { reason: string }) => f.reason,
  metal_in_use: (f: { reason: string }) => f.reason,
  node_locked: (f: { node: string; host: string }) =>
    `Node ${f.node} is locked by host ${f.host}, please retry after the current operation is completed.`,
  node_refuses: (f: { reason: string }) => f.reason,
  node_protected: (f: { node: string; action: string }) => `Node ${f.node} is protected and can not be ${f.action}`,
  machine_failed: (f: { node: string; what: string; reason: string }) =>
    `Node ${f.node} did not do as asked (${f.what}). Reason: ${f.reason}`,
  machine_silent: (f: { node: string; what: string; seconds: number; isChange: boolean }) =>
    `No conductor answered for node ${f.node} (${f.what}) within ${f.seconds} s` +
    (f.isChange ? '; it may still be done.' : '.'),
  machine_crowded: (f: { node: string; count: number }) =>
    `Node ${f.node} has ${f.count} questions without an answer already; ask again later.`,
  conductor_silent: (f: { hostname: string; driver: string }) =>
    `Conductor ${f.hostname}, which has driver ${f.driver}, is not heard of; nobody can ask the machine.`,
  boot_iso_unmade: (f: { reason: string }) => `The boot ISO can't be made: ${f.reason}.`,
  /** `known` are all verbs, if this is none of them. */
  verb_refused: (f: { verb: string; node: string; state: string; known?: readonly string[] }) =>
    `The requested action "${f.verb}" can not be performed on node "${f.node}" while it is in state "${f.state}".` +
    (f.known === undefined ? '' : ` It is no target: expected one of ${f.known.join(', ')}.`),
} as const

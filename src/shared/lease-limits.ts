// The limits of leases, each with its reason.

export const leaseLimits = {
  // The width of Blazar's column, and so what its clients expect.
  leaseNameCharsMax: 80,
  // All reservations of a lease are decided in one transaction.
  leaseReservationsMax: 100,
  // Instances in one reservation: each is a slot to be placed.
  reservationAmountMax: 10_000,
  // The nodes that a reservation names. They are kept with it and looked up for every node of the calendar.
  reservationNodesNamedMax: 1_000,
  // For vcpus, memory_mb, disk_gb, min and max: what the inventories in the ledger can hold.
  reservationSizeMax: 2_147_483_647,
  // A query on hosts, as text.
  propertiesCharsMax: 16 * 1024,
  capabilityNameCharsMax: 64,
  capabilityCharsMax: 4 * 1024,
  capabilitiesPerHostMax: 256,
  // A year: a larger number is a mistake.
  leaseMinutesMax: 366 * 24 * 60,
  // Nesting of a query on hosts: more than anyone writes by hand.
  propertiesDepthMax: 32,

  // Several reservations of one lease are packed by a search: up to this many hosts × reservations, and this many steps
  // of well under a microsecond each. Beyond that only the usual order is tried.
  fitSearchMax: 1_000,
  fitStepsMax: 20_000,
  // Proposals that may lose to other bookings; after that all suitable hosts are locked.
  bookingAttemptsMax: 8,
  // Hosts checked to find the next free windows, in all tries together: about ten milliseconds.
  refusalLooksMax: 20_000,
  // The same for a request that only asks for an explanation.
  explainLooksMax: 200_000,
  // Hosts that are locked to confirm a refusal.
  refusalLocksMax: 256,
  refusalWindowsMax: 3,
  refusalSampleMax: 5,
  // Leases that start in one transaction: long enough to share the commit, short enough for requests in between.
  leaseStartsMax: 25,
  leaseEndsAtOnce: 4,
  leaseEventsMax: 200,
  // A lease that waits for the previous one on a host, or for a command on its nodes, tries again this often.
  leaseWaitMs: 1_000,
  // How many of the consumers that keep a lease from ending are named.
  leaseHoldersShown: 5,
  // A failed step is retried soon, then with growing pauses, and at least every minute.
  leaseRetryMs: 250,
  leaseRetryMsMax: 60_000,
  // How often reservations with missing resources are checked; a host that goes down is noticed at once.
  healingPollMs: 5_000,
  // nova-compute reads the tree of its provider every 5 minutes. In between it asks for each provider that it read, and
  // fails all builds on the host if one is gone: so the empty child of a withdrawn host stays for twice that time.
  withdrawnHostKeptMs: 600_000,
  withdrawnHostsPollMs: 60_000,
  // A client waits while an external service decides about its lease; after this long the service counts as away.
  leaseServiceMsMax: 5_000,
  leaseServiceMessageMax: 1_000,
} as const

// The problems of identity, and their messages.

export const IDENTITY_PROBLEMS = {
  // One message for every failed login, so that guesses teach nothing.
  not_authenticated: (_: object) => 'The request you have made requires authentication.',
  identity_invalid: (f: { reason: string }) => f.reason,
  identity_forbidden: (f: { action: string }) => `You are not authorized to perform the requested action: ${f.action}.`,
  identity_not_found: (f: { what: string; name: string }) => `Could not find ${f.what}: ${f.name}.`,
  identity_exists: (f: { reason: string }) => f.reason,
  identity_refused: (f: { reason: string }) => f.reason,
  identity_elsewhere: (f: { reason: string }) => f.reason,
} as const

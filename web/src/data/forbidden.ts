/** The server's word for a verb that the policy forbids, whatever the state of the machine. */
export const FORBIDDEN = 'You may not.'

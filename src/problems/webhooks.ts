// The problems of webhooks, and their messages.

export const WEBHOOK_PROBLEMS = {
  webhook_invalid: (f: { reason: string }) => f.reason,
  webhook_not_found: (f: { uuid: string }) => `Webhook ${f.uuid} could not be found.`,
  webhook_too_many: (f: { whose: string; max: number }) => `${f.whose} may have at most ${f.max} webhooks.`,
  webhook_tests_too_many: (f: { retrySeconds: number }) =>
    `The webhooks of this project were tested too often; try again in ${f.retrySeconds} s.`,
  delivery_not_found: (f: { id: string }) => `There is no pending delivery ${f.id} of this webhook.`,
} as const

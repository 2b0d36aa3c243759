// Makes the context of a request that may write: each of its writes also writes an audit entry, in one transaction.
import type { FastifyRequest } from 'fastify'
import { type Entry, withoutActor } from '../../audit/entry.ts'
import { recorded } from '../../audit/record.ts'
import type { Context } from '../../process/context.ts'
import type { Caller } from '../../identity/caller.ts'

interface Deed {
  caller: Caller
  action: string
  /** The answer comes before the work is done. */
  isAccepted?: boolean
}

export function audited(
  context: Context,
  request: Pick<FastifyRequest, 'id' | 'ip'>,
  { caller, action, isAccepted }: Deed,
): Context {
  const whole: Entry = {
    at: context.clock.now(),
    requestId: request.id,
    user: caller.user,
    project: caller.project,
    roles: [...caller.roles].join(),
    address: request.ip,
    action,
    outcome: isAccepted ? 'accepted' : 'done',
  }
  const entry = context.config.audit === 'off' ? withoutActor(whole) : whole
  const { store, claims, grants } = context
  return {
    ...context,
    store: auditedStore(store, entry),
    claims: { submit: claim => claims.submit(claim, entry) },
    grants: {
      allocate: (wanted, who) => grants.allocate(wanted, who, entry),
      hold: (wanted, view, who) => grants.hold(wanted, view, who, entry),
    },
  }
}

function auditedStore(store: Context['store'], entry: Entry): Context['store'] {
  return {
    dialect: store.dialect,
    read: (work, options) => store.read(work, options),
    write: (work, options) => store.write(() => recorded(work(), entry), options),
    script: work => store.script(work),
    settled: () => store.settled(),
    ordered: () => store.ordered(),
    onCommit: absorb => store.onCommit(absorb),
    onNews: listener => store.onNews(listener),
    ping: () => store.ping(),
    close: () => store.close(),
  }
}

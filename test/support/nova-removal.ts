// How a server of the test Nova goes: at once where no compute has to do it; else when the compute has done it.
import { broken, Refusal } from './nova-answers.ts'
import type { Caller } from './nova-holdfast.ts'
import type { Migration, Server } from './nova-rows.ts'
import { release } from './nova-scheduler.ts'
import type { TestNova } from './nova.ts'

export async function remove(nova: TestNova, server: Server, { isAdmin }: Caller): Promise<void> {
  if (server.isLocked && !isAdmin) throw new Refusal(409, `Instance ${server.id} is locked`)
  const before = server.task
  const gone = async (isForced: boolean) => {
    await release(nova.holdfast, server.id, isForced)
    nova.servers.delete(server.id)
  }
  if (server.host === null) return gone(true)
  nova.set(server, { task: 'deleting' })
  if (server.state === 'resized') await confirmFirst(nova, server)
  const host = nova.hosts.get(server.host)
  if (!host?.isUp) return gone(true)
  if (before === 'deleting') return
  nova.run(() =>
    host.send(async () => {
      if (nova.servers.has(server.id)) await gone(false)
    }),
  )
}

/** The API waits for the source of the move to clean up. */
async function confirmFirst(nova: TestNova, server: Server): Promise<void> {
  const move = unconfirmed(nova, server)
  if (!move) return
  if (!nova.hosts.get(move.source)?.isRunning) throw broken('oslo_messaging.exceptions.MessagingTimeout')
  await confirmOnSource(nova, move)
  nova.set(server, { task: 'deleting' })
}

/** The move of a server in VERIFY_RESIZE. */
export const unconfirmed = ({ migrations }: TestNova, { id }: Server): Migration | undefined =>
  migrations.findLast(({ server, status }) => server.id === id && ['finished', 'confirming'].includes(status))

export async function confirmOnSource(nova: TestNova, move: Migration): Promise<void> {
  await release(nova.holdfast, move.uuid)
  move.status = 'confirmed'
  nova.set(move.server, { state: move.oldState, task: null })
}

// holdfast node kick and note: to take a machine back from whoever has it, and to write something about it.
import { inCommand, quoted } from '../../shared/shell.ts'
import type { Command } from 'commander'
import { type Allocation, ApiError, type Holdfast, type Lease, type Node } from '../../client/index.ts'
import { UsageError } from '../../shared/usage-error.ts'
import { type Flags, onServer, printingCommand, type ServerFlags, serverCommand } from '../client-command.ts'
import { type DryRun, withDryRun } from '../dry-run.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import { localTime } from '../local-time.ts'
import { printOne, say, tell } from '../output.ts'
import { inLocalTimes } from '../wall-clock.ts'

type KickFlags = ServerFlags & DryRun & { message: string; now?: boolean }

export function addKickCommands(node: Command): void {
  withDryRun(
    serverCommand(
      node,
      'kick <node>',
      'end the allocation that has it; if someone keeps it (holdfast run), ask them to let go',
      "node kick n1 --message 'the demo needs it'",
    ),
  )
    .requiredOption('--message <text>', 'say why, to whoever has it')
    .option('--now', 'take it at once, though its user may be on it still; for admins')
    .action(onServer(async (server, ident: string, flags: KickFlags) => kick(server, ident, flags)))
  printingCommand(
    node,
    'note <node> [text]',
    'write what others should know about it',
    "node note n1 'the fan is loud'",
  )
    .option('--clear', 'take the note away')
    .action(
      onServer(async ({ nodes }, ident: string, text: string | undefined, flags: Flags & { clear?: boolean }) => {
        if ((text === undefined) === !flags.clear) throw new UsageError('say what to note, or --clear')
        const patch = { op: 'add', path: '/description', value: text ?? null } as const
        const node = await nodes.update(ident, [patch])
        if (flags.format !== 'table' || flags.column) return printOne(node, flags)
        say(`${nameOf(node)}: ${text ?? 'no note'}`)
      }),
    )
}

async function kick(server: Holdfast, ident: string, { message, now, dryRun }: KickFlags): Promise<void> {
  const node = await server.nodes.show(ident)
  const found = await hadBy(server, node)
  const farewell = { now, message }
  const name = nameOf(node)
  const what = found.name ?? found.uuid
  try {
    if (dryRun) {
      await server.allocations.explainDeletion(found.uuid, farewell)
      if (found.keeper === null || now) return say(`${what} would be ended, and ${name} would be free.${untold(found)}`)
      return say(`${found.keeper} would be told. ${name} would be free ${letGo(found.expires_at)}`)
    }
    if (found.keeper !== null && now)
      tell(`${found.keeper} keeps ${name}: until that command has ended, two users may be on the machine`)
    // By its uuid: if the machine has gone to someone else meanwhile, they are left alone.
    const asked = await server.allocations.delete(found.uuid, farewell)
    if (asked === null) return say(`${what} is ended, and ${await freedIn(server, node)}.${untold(found)}`)
    say(`${asked.keeper} is told: ${message}. ${name} is free ${letGo(asked.ending!.until)}`)
  } catch (error) {
    throw error instanceof ApiError && error.status === 409
      ? new CommandFailure(EXIT.conflict, inLocalTimes(error.message), helpFor(error.message, name))
      : error
  }
}

const nameOf = ({ name, uuid }: Pick<Node, 'name' | 'uuid'>) => name ?? uuid

const letGo = (until: string | null) => `when they let go${until === null ? '' : `, or at ${localTime(until)}`}`

/** Only whoever keeps it reads messages. */
const untold = ({ keeper }: Allocation) => (keeper === null ? ' Nobody runs a command there, so nobody is told' : '')

async function freedIn({ nodes }: Holdfast, { uuid, name }: Node): Promise<string> {
  const { provision_state } = await nodes.show(uuid, ['provision_state'])
  return provision_state === 'available' ? `${name ?? uuid} is free` : `${name ?? uuid} is ${provision_state}`
}

const helpFor = (refusal: string, name: string) =>
  refusal.includes('is in state') ? `undeploy it: holdfast node undeploy ${name}` : null

/** The allocation to be ended. Refuses if something else has the machine, and says what helps. */
async function hadBy(server: Holdfast, node: Node): Promise<Allocation> {
  const name = nameOf(node)
  const refuse = (what: string, help: string | null) => new CommandFailure(EXIT.conflict, `${name} ${what}`, help)
  if (node.allocation_uuid !== null) {
    const lease = await leaseOf(server, node)
    if (lease)
      throw refuse(
        `is of lease ${lease.name}`,
        `to end the lease: holdfast lease delete ${inCommand(lease.name, lease.id)}`,
      )
    return server.allocations.show(node.allocation_uuid)
  }
  if (node.instance_uuid !== null) {
    const id = node.instance_uuid
    const found = await server.servers.show(id).catch(() => null)
    if (found) throw refuse(`is of server ${found.name}`, `to end it: openstack server delete ${id}`)
    throw refuse(`is of instance ${id}, which Holdfast didn't give it to`, `to end it: holdfast node undeploy ${name}`)
  }
  if (node.reservation_uuid !== null) {
    const help = `to let it go: holdfast reservation delete ${node.reservation_uuid}`
    throw refuse(`is held by reservation ${node.reservation_uuid}`, help)
  }
  const [consumer] = await server.providers.consumers(node.uuid).catch(() => [])
  if (consumer !== undefined)
    throw refuse(
      `is claimed by ${consumer}, of another service`,
      `to end the claim: holdfast claim delete ${quoted(consumer)}`,
    )
  throw refuse('is not in use: nobody has it', null)
}

/** The lease that gave the node's allocation. */
async function leaseOf({ leases }: Holdfast, { uuid, allocation_uuid }: Node): Promise<Lease | undefined> {
  const found = await leases.list().catch(() => [])
  const isGiven = ({ node, allocation }: { node: string; allocation: string | null }) =>
    node === uuid && allocation === allocation_uuid
  return found.find(({ reservations }) =>
    reservations.some(one => ((one['nodes'] ?? []) as Parameters<typeof isGiven>[0][]).some(isGiven)),
  )
}

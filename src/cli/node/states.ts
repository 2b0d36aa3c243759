// holdfast node manage, provide, deploy, undeploy, maintenance, power
import type { Command } from 'commander'
import type { Holdfast, Node, Verb } from '../../client/index.ts'
import { Attempts, durationOf, forEach, onServer, type ServerFlags, serverCommand } from '../client-command.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import { say } from '../output.ts'
import { waitFor } from '../waiting.ts'

interface VerbFlags extends ServerFlags {
  wait?: string | true
  reservation?: string
}

/** The command's verb, the API's verb, and the state that it leads to. */
const VERBS: Record<string, { verb: Verb; to: string; help: string }> = {
  manage: { verb: 'manage', to: 'manageable', help: 'take nodes under management' },
  provide: { verb: 'provide', to: 'available', help: 'make nodes available' },
  deploy: { verb: 'active', to: 'active', help: 'deploy nodes' },
  undeploy: { verb: 'deleted', to: 'available', help: 'tear nodes down' },
}

export function addVerbCommands(node: Command): void {
  for (const [word, { verb, to, help }] of Object.entries(VERBS)) {
    const command = serverCommand(node, `${word} <nodes...>`, help, `node ${word} n1 --wait`)
    command.option('--wait [duration]', `wait until it is ${to}, at most so long`)
    if (word === 'deploy') command.option('--reservation <reservation>', 'of the reservation that holds the node')
    command.action(
      onServer(async (server, idents: string[], flags: VerbFlags) => {
        const more = flags.reservation === undefined ? {} : { reservation_uuid: flags.reservation }
        const attempts = new Attempts()
        await attempts.each(idents, async ident => server.nodes.provision(ident, verb, more))
        const timeoutMs = typeof flags.wait === 'string' ? durationOf(flags.wait) : null
        await attempts.each([...attempts.succeeded], async ident => {
          if (flags.wait) await waitForState(server, ident, to, timeoutMs)
          else say(`${ident}: ${word} is under way`)
        })
        attempts.finish()
      }),
    )
  }
}

const STATE_FIELDS = ['uuid', 'name', 'provision_state', 'target_provision_state', 'last_error']

async function waitForState({ nodes }: Holdfast, ident: string, wanted: string, timeoutMs: number | null) {
  const look = async () => {
    const node = await nodes.show(ident, STATE_FIELDS)
    if (node.provision_state === wanted) return { done: node }
    if (node.target_provision_state === null || isFailed(node)) {
      const why = node.last_error ? `: ${node.last_error}` : ''
      throw new CommandFailure(EXIT.failed, `${ident} is ${node.provision_state}, not ${wanted}${why}`)
    }
    return { waitingFor: `${ident} is ${node.provision_state} on its way to ${wanted}` }
  }
  await waitFor<Node>(look, { timeoutMs })
  say(`${ident} is ${wanted}`)
}

const isFailed = ({ provision_state: state }: Node) => /fail|error/.test(state)

export function addStateCommands(node: Command): void {
  const maintenance = node.command('maintenance').description('take nodes out of use, and back')
  serverCommand(maintenance, 'set <nodes...>', 'nobody gets these nodes', 'node maintenance set n1 --reason "new disk"')
    .option('--reason <text>', 'why')
    .action(
      onServer(async (server, idents: string[], flags: ServerFlags & { reason?: string }) =>
        forEach(idents, async ident => {
          await server.nodes.startMaintenance(ident, flags.reason)
          say(`${ident} is in maintenance`)
        }),
      ),
    )
  serverCommand(maintenance, 'unset <nodes...>', 'back into use', 'node maintenance unset n1').action(
    onServer(async (server, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await server.nodes.endMaintenance(ident)
        say(`${ident} is not in maintenance`)
      }),
    ),
  )
  const power = node.command('power').description('switch nodes on and off')
  for (const [word, target] of Object.entries({ on: 'power on', off: 'power off', reboot: 'rebooting' })) {
    const soft = word !== 'on'
    const command = serverCommand(power, `${word} <nodes...>`, target, `node power ${word} n1`)
    if (soft) command.option('--soft', 'ask the operating system to do it')
    command.action(
      onServer(async (server, idents: string[], flags: ServerFlags & { soft?: boolean }) =>
        forEach(idents, async ident => {
          await server.nodes.power(ident, flags.soft ? `soft ${target}` : target)
          say(`${ident}: ${target} is under way`)
        }),
      ),
    )
  }
}

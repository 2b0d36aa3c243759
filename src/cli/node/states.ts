// holdfast node manage, inspect, provide, deploy, undeploy, maintenance, power
import type { Command } from 'commander'
import type { Verb } from '../../client/index.ts'
import { forEach, onServer, type ServerFlags, serverCommand } from '../client-command.ts'
import { say } from '../output.ts'
import { onServerWaiting, type WaitFlags } from '../wait-flags.ts'
import { provisionAndWait } from './state-wait.ts'

interface VerbFlags extends WaitFlags {
  reservation?: string
}

/** The command's verb, the API's verb, and the state that it leads to. */
const VERBS: Record<string, { verb: Verb; to: string; help: string }> = {
  manage: { verb: 'manage', to: 'manageable', help: 'take nodes under management' },
  inspect: { verb: 'inspect', to: 'manageable', help: 'find out what nodes are made of' },
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
      onServerWaiting(async (server, wait, idents: string[], flags: VerbFlags) => {
        const more = flags.reservation === undefined ? {} : { reservation_uuid: flags.reservation }
        if (flags.wait) return provisionAndWait(server, wait, idents, { verb, to, more })
        await forEach(idents, async ident => {
          await server.nodes.provision(ident, verb, more)
          say(`${ident}: ${word} is under way`)
        })
      }),
    )
  }
}

const POWER = [
  ['on', 'power on', 'switch nodes on'],
  ['off', 'power off', 'switch nodes off'],
  ['reboot', 'rebooting', 'switch nodes off and on again'],
] as const

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
  for (const [word, target, description] of POWER) {
    const command = serverCommand(power, `${word} <nodes...>`, description, `node power ${word} n1`)
    if (word !== 'on') command.option('--soft', 'ask the operating system to do it')
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

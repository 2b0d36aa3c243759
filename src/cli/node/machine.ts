// holdfast node validate, boot-device, boot-mode, sensors, events, indicator, nmi: what the machine itself is asked.
import { Argument, type Command } from 'commander'
import { type Flags, forEach, onServer, printingCommand, type ServerFlags, serverCommand } from '../client-command.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import { printList, printOne, say } from '../output.ts'

export function addMachineCommands(node: Command): void {
  printingCommand(node, 'validate <node>', 'ask whether a node can be driven, and why not', 'node validate n1', VERDICT)
    .addHelpText('after', '\nThe exit code is 1 when power or management can not be driven.')
    .action(
      onServer(async (server, ident: string, flags: Flags) => {
        const verdicts = await server.nodes.validate(ident)
        const rows = Object.entries(verdicts).map(([name, { result, reason }]) => ({
          interface: name,
          result,
          reason: reason ?? null,
        }))
        printList(rows, VERDICT, flags)
        const bad = ['power', 'management'].filter(name => verdicts[name]?.result === false)
        if (bad.length > 0)
          throw new CommandFailure(EXIT.failed, `${ident} can't be driven: ${verdicts[bad[0]!]!.reason}`)
      }),
    )
  addBootCommands(node)
  printingCommand(node, 'sensors <node>', 'what its sensors measure', 'node sensors n1', SENSORS).action(
    onServer(async (server, ident: string, flags: Flags) =>
      printList(await server.nodes.sensors(ident), SENSORS, flags),
    ),
  )
  printingCommand(
    node,
    'events <node>',
    'the event log of its BMC (SEL), newest last',
    'node events n1',
    EVENTS,
  ).action(
    onServer(async (server, ident: string, flags: Flags) =>
      printList(await server.nodes.bmcEvents(ident), EVENTS, flags),
    ),
  )
  addIndicatorCommands(node)
  serverCommand(node, 'nmi <nodes...>', 'have their operating systems write a dump', 'node nmi n1').action(
    onServer(async (server, idents: string[], _flags: ServerFlags) =>
      forEach(idents, async ident => {
        await server.nodes.injectNmi(ident)
        say(`${ident} got a non-maskable interrupt`)
      }),
    ),
  )
}

const VERDICT = ['interface', 'result', 'reason']
const SENSORS = ['sensor', 'kind', 'value', 'unit', 'health']
const EVENTS = ['at', 'severity', 'text']

function addBootCommands(node: Command): void {
  const device = node.command('boot-device').description('what nodes boot from')
  printingCommand(device, 'show <node>', 'ask what it boots from', 'node boot-device show n1').action(
    onServer(async (server, ident: string, flags: Flags) => {
      const found = await server.nodes.bootDevice(ident)
      printOne({ ...found, supported: await server.nodes.bootDevices(ident) }, flags)
    }),
  )
  serverCommand(device, 'set <node> <device>', 'set what it boots from next time', 'node boot-device set n1 pxe')
    .option('--persistent', 'and ever after')
    .action(
      onServer(async (server, ident: string, chosen: string, flags: ServerFlags & { persistent?: boolean }) => {
        await server.nodes.setBootDevice(ident, chosen, { persistent: flags.persistent === true })
        say(`${ident} boots from ${chosen}${flags.persistent ? '' : ' next time'}`)
      }),
    )
  serverCommand(node, 'boot-mode <node>', 'set how it boots; node show tells when it is done', 'node boot-mode n1 uefi')
    .addArgument(new Argument('<mode>', 'uefi or bios').choices(['uefi', 'bios']))
    .action(
      onServer(async (server, ident: string, mode: 'uefi' | 'bios', _flags: ServerFlags) => {
        await server.nodes.setBootMode(ident, mode)
        say(`${ident}: ${mode} is under way`)
      }),
    )
}

const LIGHTS = ['component', 'name', 'readonly', 'states']

function addIndicatorCommands(node: Command): void {
  const indicator = node.command('indicator').description('the lights of a machine')
  printingCommand(indicator, 'list <node>', 'list its lights', 'node indicator list n1', LIGHTS).action(
    onServer(async (server, ident: string, flags: Flags) =>
      printList(await server.nodes.indicators(ident), LIGHTS, flags),
    ),
  )
  printingCommand(
    indicator,
    'show <node> <component> <light>',
    'is it lit?',
    'node indicator show n1 system led',
  ).action(
    onServer(async (server, ident: string, component: string, light: string, flags: Flags) => {
      const state = await server.nodes.indicator(ident, component, light)
      printOne({ component, name: light, state }, flags)
    }),
  )
  const example = 'node indicator set n1 system led BLINKING'
  serverCommand(indicator, 'set <node> <component> <light> <state>', 'switch it', example).action(
    onServer(async (server, ident: string, component: string, light: string, state: string, _flags: ServerFlags) => {
      await server.nodes.setIndicator(ident, component, light, state)
      say(`${light} of ${ident}'s ${component} is ${state}`)
    }),
  )
}

// holdfast driver: the hardware drivers that live conductors offer.
import type { Command } from 'commander'
import { type Flags, onServer, printingCommand } from './client-command.ts'
import type { Word } from './command.ts'
import { printList, printOne } from './output.ts'

const COLUMNS = ['name', 'hosts']

export function addCommands(program: Command, { name, help }: Word): void {
  const driver = program.command(name).description(help)
  printingCommand(
    driver,
    'list',
    'list the drivers, and the conductors that offer them',
    'driver list',
    COLUMNS,
  ).action(onServer(async ({ conductors }, flags: Flags) => printList(await conductors.drivers(), COLUMNS, flags)))
  printingCommand(driver, 'show <driver>', 'show a driver and its interfaces', 'driver show redfish').action(
    onServer(async ({ conductors }, name: string, flags: Flags) => {
      const { properties: _, ...shown } = await conductors.driver(name)
      printOne(shown, flags)
    }),
  )
  const property = driver.command('property').description('what a driver wants to know of a node')
  printingCommand(property, 'list <driver>', 'the keys of driver_info, explained', 'driver property list redfish', [
    'property',
    'description',
  ]).action(
    onServer(async ({ conductors }, name: string, flags: Flags) => {
      const found = Object.entries(await conductors.driverProperties(name))
      const rows = found.map(([key, description]) => ({ property: key, description }))
      printList(rows, ['property', 'description'], flags)
    }),
  )
}

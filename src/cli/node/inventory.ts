// holdfast node inventory: what the last inspection found.
import type { Command } from 'commander'
import type { Json } from '../../client/index.ts'
import { isObject } from '../../shared/is-object.ts'
import { type Flags, onServer, printingCommand } from '../client-command.ts'
import { printOne, type Row } from '../output.ts'

export function addInventoryCommand(node: Command): void {
  printingCommand(node, 'inventory <node>', 'show what the last inspection found', 'node inventory n1 -f json').action(
    onServer(async (server, ident: string, flags: Flags) => {
      const { inventory, plugin_data } = await server.nodes.inventory(ident)
      const isForPeople = flags.format === 'table' && !flags.column
      printOne({ ...(isForPeople ? inShort(inventory) : inventory), ...plugin_data }, flags)
    }),
  )
}

const BASICS = ['vendor', 'product', 'serial', 'cpus', 'cpu_arch', 'memory_mb', 'local_gb']

/** Programs get all of it. */
function inShort(inventory: Json): Row {
  const { cpu, boot } = inventory
  return {
    ...Object.fromEntries(BASICS.map(name => [name, inventory[name] ?? null])),
    cpu_model: isObject(cpu) ? cpu['model_name'] : null,
    gpus: orNothing(counted(listIn(inventory, 'gpus').map(one => one['model']))),
    disks: orNothing(listIn(inventory, 'disks').map(({ name, size }) => `${String(name)} ${sizeOf(Number(size))}`)),
    interfaces: orNothing(listIn(inventory, 'interfaces').map(one => String(one['mac_address']))),
    boot_mode: isObject(boot) ? boot['current_boot_mode'] : null,
    // A BMC may list the same twice.
    firmware: orNothing([
      ...new Set(listIn(inventory, 'firmware').map(one => `${String(one['name'])} ${String(one['version'])}`)),
    ]),
  }
}

const orNothing = (words: readonly string[]) => (words.length > 0 ? words : null)

const listIn = (inventory: Json, name: string) => {
  const list = inventory[name]
  return (Array.isArray(list) ? (list as unknown[]) : []).filter(isObject)
}

/** `2 × L4`. */
function counted(names: readonly unknown[]): string[] {
  const groups = Map.groupBy(names, name => (typeof name === 'string' ? name : 'unknown'))
  return [...groups].map(([name, all]) => `${all.length} × ${name}`)
}

const sizeOf = (bytes: number) => `${Math.round(bytes / 1e9)} GB`

// What the viewer may do with machines now: for menus, buttons and bulk. What the answer doesn't allow isn't there.
import type { Holdfast } from '../../../../src/client/index.ts'
import type { Verb } from '../../../../src/client/nodes.ts'
import type { Machine } from '../../../../src/client/status.ts'
import { isLive } from '../../data/live.ts'
import { words } from '../../words.ts'
import { ask, type PowerTarget } from './asked.ts'
import { atOnce, type DeedOnAll } from './deeds.ts'

export interface Action {
  /** As in the command: `deploy`, `power on`, `extend`. */
  verb: string
  text: string
  isDangerous: boolean
  /** Why it can't be done just now. */
  whyNot: string | null
  /** With how many of the machines it can be done. */
  can: number
  act: () => void
}

interface ActionKind {
  verb: string
  text: string
  isDangerous?: boolean
  isFor: (machine: Machine) => boolean
  act: (machines: readonly Machine[]) => void
}

const may =
  (...verbs: readonly string[]) =>
  (machine: Machine) =>
    verbs.some(verb => machine.may.includes(verb))

/** The API's words for verbs that happen at once. */
const AT_ONCE: Readonly<Record<string, Verb>> = {
  manage: 'manage',
  provide: 'provide',
  inspect: 'inspect',
  clean: 'clean',
  adopt: 'adopt',
  abort: 'abort',
  unrescue: 'unrescue',
}

const provisions = Object.entries(AT_ONCE).map(([verb, target]): ActionKind => ({
  verb,
  text: words.verbs.text[verb as keyof typeof words.verbs.text],
  isFor: may(verb),
  act: machines =>
    atOnce(machines, {
      said: what => words.verbs.underWay(what, verb),
      act: ({ nodes }, { machine }) =>
        nodes.provision(machine.uuid, target, target === 'clean' ? { clean_steps: [] } : {}),
    }),
}))

const askedFirst = (['deploy', 'rebuild', 'undeploy', 'rescue'] as const).map((verb): ActionKind => ({
  verb,
  text: words.verbs.text[verb],
  isDangerous: verb === 'rebuild' || verb === 'undeploy',
  isFor: may(verb),
  act: machines => ask({ what: 'provision', verb, machines }),
}))

const POWER: Readonly<Record<PowerTarget, string>> = { on: 'power on', off: 'power off', reboot: 'rebooting' }

const isOn = ({ power }: Machine) => power === 'power on'

/** Whoever has it may be at work there: then it is asked first. */
export function power(machines: readonly Machine[], target: PowerTarget): void {
  if (target !== 'on' && machines.some(({ kind }) => kind !== null)) ask({ what: 'power', target, machines })
  else atOnce(machines, powerDeed(target))
}

export function powerDeed(target: PowerTarget): DeedOnAll<{ machine: Machine }> {
  const back = target === 'reboot' ? null : POWER[target === 'on' ? 'off' : 'on']
  return {
    said: what => words.verbs.underWay(what, POWER[target]),
    act: ({ nodes }, { machine }) => nodes.power(machine.uuid, POWER[target]),
    ...(back !== null && {
      undo: ({ nodes }: Holdfast, { machine }: { machine: Machine }) => nodes.power(machine.uuid, back),
    }),
  }
}

const powers = (['on', 'off', 'reboot'] as const).map((target): ActionKind => ({
  verb: target === 'reboot' ? 'reboot' : `power ${target}`,
  text: words.verbs.power[target],
  isFor: machine => machine.may.includes('power') && isOn(machine) === (target !== 'on'),
  act: machines => power(machines, target),
}))

/** Something that is done at once, and can be taken back. */
const both = (verb: string, isFor: ActionKind['isFor'], deed: DeedOnAll<{ machine: Machine }>): ActionKind => ({
  verb,
  text: words.verbs.text[verb as keyof typeof words.verbs.text],
  isFor,
  act: machines => atOnce(machines, deed),
})

const start = ({ nodes }: Holdfast, { uuid, reason }: Machine) => nodes.startMaintenance(uuid, reason ?? undefined)

const KINDS: readonly ActionKind[] = [
  {
    verb: 'extend',
    text: words.verbs.text.extend,
    isFor: may('extend'),
    act: machines => ask({ what: 'extend', machines, byMs: null }),
  },
  ...askedFirst.slice(0, 1),
  ...powers,
  ...provisions,
  ...askedFirst.slice(1),
  {
    verb: 'maintenance',
    text: words.verbs.text.maintenance,
    isFor: machine => machine.may.includes('maintenance') && !machine.maintenance,
    act: machines => ask({ what: 'maintenance', machines }),
  },
  both('end maintenance', machine => machine.may.includes('maintenance') && machine.maintenance, {
    said: words.verbs.maintenanceEnded,
    act: ({ nodes }, { machine }) => nodes.endMaintenance(machine.uuid),
    undo: (server, { machine }) => start(server, machine),
  }),
  { verb: 'note', text: words.verbs.text.note, isFor: may('note'), act: machines => ask({ what: 'note', machines }) },
  {
    verb: 'purpose',
    text: words.verbs.text.purpose,
    isFor: may('purpose'),
    act: machines => ask({ what: 'purpose', machines }),
  },
  both('make bookable', machine => machine.may.includes('bookable') && !machine.bookable, {
    said: words.verbs.nowBookable,
    act: ({ leasableNodes }, { machine }) => leasableNodes.enrol(machine.uuid),
    undo: ({ leasableNodes }, { machine }) => leasableNodes.withdraw(machine.uuid),
  }),
  both('not bookable', machine => machine.may.includes('bookable') && machine.bookable, {
    said: words.verbs.notBookable,
    act: ({ leasableNodes }, { machine }) => leasableNodes.withdraw(machine.uuid),
    undo: ({ leasableNodes }, { machine }) => leasableNodes.enrol(machine.uuid),
  }),
  {
    verb: 'traits',
    text: words.verbs.text.traits,
    isFor: may('traits'),
    act: machines => ask({ what: 'traits', machines }),
  },
  {
    verb: 'release',
    text: words.verbs.text.release,
    isDangerous: true,
    isFor: may('release'),
    act: machines => ask({ what: 'end', machines }),
  },
  {
    verb: 'kick',
    text: words.verbs.text.kick,
    isDangerous: true,
    isFor: may('kick'),
    act: machines => ask({ what: 'end', machines }),
  },
  {
    verb: 'delete',
    text: words.verbs.text.delete,
    isDangerous: true,
    isFor: may('delete'),
    act: machines => ask({ what: 'delete', machines }),
  },
]

/** What the viewer may do with a machine, or with at least one of many. Nothing can be done while the connection is lost. */
export function actionsOf(about: Machine | readonly Machine[]): Action[] {
  const machines = 'uuid' in about ? [about] : about
  return KINDS.flatMap(({ verb, text, isDangerous = false, isFor, act }) => {
    const able = machines.filter(isFor)
    if (able.length === 0) return []
    const whyNot = isLive() ? null : words.doing.offline
    return [{ verb, text, isDangerous, whyNot, can: able.length, act: () => act(able) }]
  })
}

/** One of them; undefined if it may not be done now. */
export const actionOf = (verb: string, about: Machine | readonly Machine[]): Action | undefined =>
  actionsOf(about).find(action => action.verb === verb)

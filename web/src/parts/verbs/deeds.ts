// Does something with one machine or with many. Of many, what fails is told machine by machine.
import type { Holdfast } from '../../../../src/client/index.ts'
import type { Machine } from '../../../../src/client/status.ts'
import { carryOut, reasonOf, tell } from '../../data/doing.ts'
import { server } from '../../data/session.ts'
import { list, words } from '../../words.ts'
import { ask, type Failure } from './asked.ts'

/** So many requests are under way at once. */
const AT_ONCE = 6
/** So many machines are named; more are counted. */
const NAMED_MAX = 3

export const nameOf = ({ name, uuid }: Pick<Machine, 'name' | 'uuid'>) => name ?? uuid

/** `rack-a01-06`, `a, b and c`, `7 machines`. */
export const called = (machines: readonly Pick<Machine, 'name' | 'uuid'>[]): string =>
  machines.length > NAMED_MAX ? words.verbs.machines(machines.length) : list(machines.map(nameOf))

export interface DeedOnAll<T> {
  /** What was done, once it is. */
  said: (what: string) => string
  act: (server: Holdfast, thing: T) => Promise<unknown>
  undo?: (server: Holdfast, thing: T) => Promise<unknown>
}

/** Things that have machines, such as a lease with five. */
interface OfMachines {
  machines: readonly Machine[]
}

/** True if all of it was done. Of many, the viewer is told what wasn't; of one, the refusal is thrown. */
export async function onAll<T extends OfMachines>(things: readonly T[], { said, act, undo }: DeedOnAll<T>) {
  const { done, failed } = await each(things, thing => act(server(), thing))
  if (done.length > 0) {
    await carryOut({
      said: said(called(done.flatMap(({ machines }) => machines))),
      act: async () => {},
      ...(undo && { undo: (again: Holdfast) => undoAll(done, thing => undo(again, thing)) }),
    })
  }
  const [first] = failed
  if (!first) return true
  if (things.length === 1) throw new Error(first.why)
  const machines = things.flatMap(thing => thing.machines)
  ask({ what: 'report', machines, title: words.verbs.notAll(failed.length, things.length), failed })
  return false
}

/** Without a sheet that could show a refusal. */
export function atOnce(machines: readonly Machine[], deed: DeedOnAll<{ machine: Machine } & OfMachines>): void {
  onEach(machines, deed).catch((error: unknown) =>
    tell({ text: words.doing.refused(reasonOf(error)), kind: 'refused', action: null }),
  )
}

export const onEach = (machines: readonly Machine[], deed: DeedOnAll<{ machine: Machine } & OfMachines>) =>
  onAll(
    machines.map(machine => ({ machine, machines: [machine] })),
    deed,
  )

async function undoAll<T extends OfMachines>(things: readonly T[], undo: (thing: T) => Promise<unknown>) {
  const { failed } = await each(things, undo)
  if (failed.length > 0) throw new Error(failed.map(({ name, why }) => `${name}: ${why}`).join(' '))
}

/** Works through a list, a few at a time. */
async function each<T extends OfMachines>(
  things: readonly T[],
  work: (thing: T) => Promise<unknown>,
): Promise<{ done: T[]; failed: Failure[] }> {
  const [done, failed]: [T[], Failure[]] = [[], []]
  const waiting = [...things]
  const worker = async () => {
    for (let thing = waiting.shift(); thing; thing = waiting.shift()) {
      try {
        await work(thing)
        done.push(thing)
      } catch (error) {
        failed.push({ name: called(thing.machines), why: reasonOf(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return { done, failed }
}

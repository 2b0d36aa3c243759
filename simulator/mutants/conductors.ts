// Bugs of conductors: locks, heartbeats, take-over, answers that are lost.
import type { Mutant } from './mutant.ts'

const WRITES = 'src/metal/conductors/node-writes.ts'
const TAKING = 'src/metal/conductors/taking.ts'
const ROWS = 'src/metal/conductors/rows.ts'

export const conductorMutants: readonly Mutant[] = [
  {
    name: 'fence-ignores-the-lock',
    breaks: 'a conductor that was given up writes the result of its step',
    file: WRITES,
    from: 'if (!node || node.lock_term !== term || (node.lock_incarnation ?? incarnation) !== incarnation) throw new LockLost()',
    to: 'if (!node || term < 0 || incarnation === "") throw new LockLost()',
    mix: 'nodes',
    seeds: 25,
  },
  {
    name: 'lost-answer-of-taking',
    breaks: 'the answer to taking work is lost, and the node is locked by the living for ever',
    file: TAKING,
    from: '(lock_incarnation is null or lock_incarnation = ${a.incarnation})',
    to: '(lock_incarnation is null or lock_incarnation = ${a.incarnation} and lock_term < 0)',
    mix: 'nodes',
    seeds: 12,
  },
  {
    name: 'lost-answer-of-a-step',
    breaks: 'the end of a step is written again after its answer was lost, and the next step counts as done',
    file: WRITES,
    from: 'isDone: node.lock_incarnation === null || stepOf(workOf(node)!) !== step',
    to: 'isDone: node.lock_incarnation === null || step < 0',
    mix: 'nodes',
    seeds: 20,
  },
  {
    name: 'work-is-taken-without-a-second-look',
    breaks: 'two conductors take the same work at once',
    file: TAKING,
    from: `    .where(isToTake(a, on))
    .where('transition', 'is not', null)
    .where('due_at', '<=', databaseNow(on))
    // A conductor`,
    to: '    // A conductor',
    mix: 'nodes',
    seeds: 20,
  },
  {
    name: 'the-given-up-take-work',
    breaks: 'a conductor that others have given up takes work',
    file: TAKING,
    from: "db.selectFrom('conductors').select('id').where('incarnation', '=', a.incarnation).where('online', '=', 1)",
    to: "db.selectFrom('conductors').select('id').where('online', '=', 1)",
    mix: 'nodes',
    seeds: 40,
  },
  {
    name: 'heartbeats-of-the-given-up',
    breaks: 'a conductor does not notice that others have given it up',
    file: ROWS,
    from: ".set({ heartbeat_at: databaseNow(on) })\n    .where('incarnation', '=', a.incarnation)\n    .where('online', '=', 1)",
    to: ".set({ heartbeat_at: databaseNow(on) })\n    .where('incarnation', '=', a.incarnation)",
    mix: 'nodes',
    seeds: 20,
  },
  {
    name: 'given-up-too-soon',
    breaks: 'a conductor is given up after a tenth of the time',
    file: 'src/metal/conductors/conductor.ts',
    from: 'return this.#options.takeOverMs * 0.7',
    to: 'return this.#options.takeOverMs * 0.07',
    mix: 'nodes',
    seeds: 3,
  },
  {
    name: 'judges-after-an-outage',
    breaks: 'the first conductor that is back after an outage gives up the others',
    file: 'src/metal/conductors/presence.ts',
    from: 'return !this.isLate && performance.now() - this.#backAt > this.#options.silentMs',
    to: 'return !this.isLate || this.#backAt > performance.now()',
    mix: 'outage',
    seeds: 20,
  },
  {
    name: 'no-take-over-of-nodes',
    breaks: 'nobody takes over the work of a dead conductor',
    file: 'src/metal/conductors/take-over.ts',
    from: ".where('lock_incarnation', 'is not', null)",
    to: ".where('lock_incarnation', 'is', null)",
    mix: 'nodes',
    seeds: 5,
  },
  {
    name: 'no-take-over-of-allocations',
    breaks: 'nobody decides the allocations of a dead conductor',
    file: 'src/metal/allocations/conductor-writes.ts',
    from: '!live.has(affinity) && (hostname === null',
    to: '!live.has(affinity) && live.size === 0 && (hostname === null',
    mix: 'metal',
    seeds: 5,
  },
  {
    name: 'failed-steps-count-as-done',
    breaks: 'a machine fails at a step, and the node goes on',
    file: 'src/metal/conductors/conductor.ts',
    from: "recorded(writes.stepFailed(turn, reason, clock.now()), this.witness(deedOf(before, 'failed'))),",
    to: "recorded(reason === '' ? writes.stepFailed(turn, reason, 0) : writes.stepDone(turn, {}, this.#inspecting()), this.witness(deedOf(before, 'failed'))),",
    mix: 'nodes',
    seeds: 3,
  },
  {
    name: 'torn-down-is-not-cleaned',
    breaks: 'a node that was given back is available without cleaning',
    file: 'src/metal/nodes/states.ts',
    from: "steps: ['tearDown', 'clean'],",
    to: "steps: ['tearDown'],",
    mix: 'nodes',
    seeds: 3,
  },
]

// How the service is, as cards: a word for each part, and whether it needs a person.
import type { Health } from '../../../../src/client/health.ts'
import type { Fsck } from '../../../../src/client/operations.ts'
import { words } from '../../words.ts'

export interface Card {
  name: keyof typeof words.operator.cards
  value: string
  more: string
  isBad: boolean
}

export interface Checked {
  at: string
  fsck: Fsck
}

/** Less may be a busy moment; more needs a person. */
const FEED_BEHIND_S_MAX = 30
const DUTY_LATE_S_MAX = 60

export function cardsOf(health: Health, checked: Checked | null, shownTime: (at: string) => string): Card[] {
  return [
    conductorsOf(health),
    databaseOf(health),
    feedOf(health),
    dutiesOf(health),
    auditOf(health),
    fsckOf(health, checked, shownTime),
  ]
}

function conductorsOf({ conductors, taken_over }: Health): Card {
  const alive = conductors.filter(one => one.alive)
  const atWork = alive.reduce((sum, { at_work }) => sum + at_work, 0)
  return {
    name: 'conductors',
    value: words.operator.alive(alive.length),
    more: words.operator.conductorsAre(
      conductors.map(one => one.hostname),
      atWork,
      taken_over.nodes,
    ),
    // One that is gone is taken over by the others; without any, nothing happens to machines.
    isBad: alive.length === 0,
  }
}

function databaseOf({ database: { kind, version, writes, commits, pool } }: Health): Card {
  return {
    name: 'database',
    value: words.operator.databases[kind],
    more: words.operator.written(writes, commits, version),
    isBad: (pool?.waiting ?? 0) > (pool?.connections ?? 0),
  }
}

function feedOf({ feed }: Health): Card {
  if (feed === null) {
    return { name: 'feed', value: words.operator.oneProcess, more: words.operator.nothingToFollow, isBad: false }
  }
  const seconds = Math.round(feed.behind_seconds)
  return {
    name: 'feed',
    value: seconds === 0 ? words.operator.upToDate : words.operator.behind(seconds),
    more: words.operator.backlog(feed.backlog),
    isBad: seconds > FEED_BEHIND_S_MAX,
  }
}

function dutiesOf({ duties, late_events }: Health): Card {
  const failing = duties.filter(duty => duty.failing)
  const late = duties.filter(({ next_seconds }) => next_seconds !== null && next_seconds < -DUTY_LATE_S_MAX)
  const count = (late_events ?? 0) + late.length
  return {
    name: 'duties',
    value: failing.length > 0 ? words.operator.failing(failing.length) : words.operator.late(count),
    more: words.operator.dutiesAre(failing.length > 0 ? failing.map(({ name }) => name) : [], duties.length),
    isBad: failing.length > 0 || count > 0,
  }
}

function auditOf({ audit: { on, unsealed } }: Health): Card {
  return {
    name: 'audit',
    value: on ? words.operator.auditOn : words.operator.auditOff,
    more: unsealed === null ? '' : words.operator.unsealed(unsealed),
    isBad: false,
  }
}

function fsckOf({ fsck }: Health, checked: Checked | null, shownTime: (at: string) => string): Card {
  const holding = checked?.fsck.invariants.filter(({ violations }) => violations === 0).length ?? 0
  const last = checked ?? fsck
  return {
    name: 'fsck',
    value: checked
      ? words.operator.holding(holding, checked.fsck.invariants.length)
      : fsck
        ? words.operator.violations(fsck.violations)
        : words.operator.notChecked,
    more: last ? words.operator.checked(shownTime(last.at)) : words.operator.checkHow,
    isBad: (checked?.fsck.violations ?? fsck?.violations ?? 0) > 0,
  }
}

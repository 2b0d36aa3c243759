// The catalog of events: documented, and without words that nobody says.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventKindOf, isQuiet, KINDS } from './kinds.ts'
import { subject } from './subject.ts'

const root = join(import.meta.dirname, '../..')
const types = Object.entries(KINDS).flatMap(([kind, { became }]) =>
  Object.entries(became).map(([word, when]) => ({ kind, word, when })),
)

test('the page on events has a line for each type, in the words of the catalog', () => {
  const page = readFileSync(join(root, 'docs/EVENTS.md'), 'utf8')
  const lines = [...page.matchAll(/^\| `(\w+)\.(\w+)` \| (.+?) \|/gm)].map(([, kind, word, when]) => ({
    kind,
    word,
    when,
  }))
  assert.deepEqual(lines, types)
})

/** Said by parts of Holdfast that aren't there yet. */
const TO_COME = new Set(['allocation.ending', 'webhook.disabled'])

test('each word is said somewhere, by those who make events of that kind', () => {
  const texts = globSync('src/**/*.ts', { cwd: root, exclude: ['src/events/**', 'src/**/*.test.ts'] }).map(file =>
    readFileSync(join(root, file), 'utf8'),
  )
  const isSaid = ({ kind, word }: { kind: string; word: string }) => {
    const named = kind[0]!.toUpperCase() + kind.slice(1)
    const maker = new RegExp(`\\bsubject\\('${kind}'|\\b${kind}Became\\(|Word<'${kind}'>|\\b${named}News\\b`)
    return texts.some(text => maker.test(text) && text.includes(`'${word}'`))
  }
  assert.deepEqual(
    types.filter(type => !isSaid(type)).map(({ kind, word }) => `${kind}.${word}`),
    [...TO_COME],
  )
})

test('a word of another kind does not compile', () => {
  assert.equal(subject('lease', 'x', 'whole', {}).became, 'whole')
  // @ts-expect-error -- a lease can be whole, an allocation can not
  subject('allocation', 'x', 'whole', {})
})

test('each kind is found by the name that its objects have in the audit', () => {
  assert.equal(eventKindOf('reservation'), 'hold')
  assert.equal(eventKindOf('consumer'), 'claim')
  assert.equal(eventKindOf('hold'), undefined)
  const found = Object.entries<object>(KINDS).map(([kind, one]) =>
    eventKindOf('subject' in one ? String(one.subject) : kind),
  )
  assert.deepEqual(found, Object.keys(KINDS))
})

test('claims are quiet, and nothing else is', () => {
  assert.deepEqual((Object.keys(KINDS) as (keyof typeof KINDS)[]).filter(isQuiet), ['claim'])
})

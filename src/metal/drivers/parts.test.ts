// Steps in parts: where another conductor goes on, and with what it knows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inParts, type PlannedPart } from './parts.ts'
import type { Done, Site } from './port.ts'

function planned(count: number) {
  const ran: [number, boolean][] = []
  const parts = Array.from({ length: count }, (_, index): PlannedPart => ({
    interface: 'deploy',
    step: `part-${index}`,
    run: async isRepeated => {
      ran.push([index, isRepeated])
      return { internal: { [`k${index}`]: index }, ...(index === 0 && { bootMode: 'uefi' as const }) }
    },
  }))
  return { parts, ran }
}

function siteAt(part: number, found?: Done) {
  const begun: Done[] = []
  const begin: Site['begin'] = async (_index, _part, known) => void begun.push(known ?? {})
  const site: Site = {
    part,
    ...(found && { found }),
    begin,
    note: async () => {},
    signal: new AbortController().signal,
  }
  return { site, begun }
}

void test('each part is told of with what those before it found out', async () => {
  const { parts, ran } = planned(2)
  const { site, begun } = siteAt(0)
  const found: Done = { bootMode: 'uefi', internal: { k0: 0, k1: 1 } }
  assert.deepEqual(await inParts(parts, site), { kind: 'done', found })
  assert.deepEqual(begun, [{}, { bootMode: 'uefi', internal: { k0: 0 } }])
  assert.deepEqual(ran, [
    [0, false],
    [1, false],
  ])
})

void test('whoever takes over goes on with the part that was begun, and knows what was found', async () => {
  const { parts, ran } = planned(3)
  const { site } = siteAt(1, { bootMode: 'uefi', internal: { k0: 0 } })
  const found: Done = { bootMode: 'uefi', internal: { k0: 0, k1: 1, k2: 2 } }
  assert.deepEqual(await inParts(parts, site), { kind: 'done', found })
  assert.deepEqual(ran, [
    [1, true],
    [2, false],
  ])
})

void test('a part that is not in the plan is no end: all are done again', async () => {
  const { parts, ran } = planned(2)
  await inParts(parts, siteAt(5).site)
  assert.deepEqual(ran, [
    [0, false],
    [1, false],
  ])
})

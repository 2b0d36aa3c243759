// What a calendar in a terminal looks like, and what is true of every one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { widthOf } from '../width.ts'
import { columnOf, type TimeWindow } from './axis.ts'
import { type Bar, cellsOf, type Chart, drawn, legendOf } from './drawing.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const at = (text: string) => Temporal.ZonedDateTime.from(text).epochMilliseconds
const MONDAY = at('2026-11-16T00:00[Europe/Berlin]')

const textOf = (chart: Chart) => drawn(chart).map(line => line.map(({ text }) => text).join(''))

const BASE: Chart = {
  rows: [],
  from: MONDAY,
  to: MONDAY + DAY,
  now: MONDAY + 12 * HOUR,
  zone: 'Europe/Berlin',
  width: 53,
  isAscii: false,
}

const bar = (look: Bar['look'], start: number, end: number | null, label = ''): Bar => ({
  look,
  start: MONDAY + start * HOUR,
  end: end === null ? null : MONDAY + end * HOUR,
  label,
})

const LAB = [
  { name: 'n-01', bars: [bar('taken', 2, 14, 'train-7'), bar('booked', 14, 20, 'course')] },
  { name: 'n-02', bars: [bar('maintenance', -40, null, 'fan'), bar('held', 3, 5)] },
  { name: 'n-03', bars: [bar('taken', 9, null, 'no end')] },
  { name: 'n-04', bars: [] },
]

test('a day of a lab: bars, their names, now, and what has no end', () => {
  assert.deepEqual(textOf({ ...BASE, rows: LAB }), [
    '     Mon 16 Nov                                      ',
    '     00:00 03:00 06:00 09:00 12:00 15:00 18:00 21:00 ',
    '                             ▼ now                   ',
    'n-01 ·   █train-7████████████████│course▓▓▓▓▓  ·     ',
    'n-02 ░░░░░░│▒▒▒│fan░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ ░ ',
    'n-03 ·     ·     ·     █no end████████████████████▓▒░',
    'n-04 ·     ·     ·     ·     │     ·     ·     ·     ',
  ])
})

test('the same in plain ASCII', () => {
  const lines = textOf({ ...BASE, rows: LAB, isAscii: true })
  assert.deepEqual(lines.slice(2), [
    '                             v now                   ',
    'n-01 .   #train-7################|course=====  .     ',
    'n-02 //////|~~~|fan///////////////////////////////>>>',
    'n-03 .     .     .     #no end####################>>>',
    'n-04 .     .     .     .     |     .     .     .     ',
  ])
  assert.ok(lines.every(line => /^[\x20-\x7e]*$/.test(line)))
})

test('the legend says what is there, and nothing else', () => {
  const words = (rows: Chart['rows'], width = 80) =>
    legendOf({ ...BASE, rows, isAscii: true, width }).map(line => line.map(({ text }) => text).join(''))
  assert.deepEqual(words(LAB), ['# taken   ~ held   = booked   / maintenance   #>>> without an end'])
  assert.deepEqual(words(LAB, 30), ['# taken   ~ held   = booked', '/ maintenance', '#>>> without an end'])
  assert.deepEqual(words([{ name: 'n-01', bars: [bar('taken', 3, 3.1), bar('taken', 3.12, 3.15)] }]), [
    '# taken   + several',
  ])
  assert.deepEqual(words([{ name: 'n-04', bars: [] }]), [])
})

test('what is too short to be drawn beside another is several', () => {
  const bars = [bar('taken', 3, 3.1), bar('taken', 3.2, 3.3), bar('taken', 8, 9)]
  const [line] = textOf({ ...BASE, rows: [{ name: 'n-01', bars }] }).slice(-1)
  assert.equal(line, 'n-01 ·     +     ·   ██·     │     ·     ·     ·     ')
})

test('a long name loses its middle, and leaves room for the time', () => {
  const name = 'machine-of-the-institute-rack-07-slot-12'
  const [line] = textOf({ ...BASE, rows: [{ name, bars: [] }], width: 40 }).slice(-1)
  assert.match(line!, /^machine…-slot-12 ·/)
  assert.equal(widthOf(line!), 40)
})

test('a day on which the clocks change is an hour longer or shorter', () => {
  const axisFor = (day: string) => {
    const from = at(`${day}T00:00[Europe/Berlin]`)
    const to = at(`${day}T00:00[Europe/Berlin]`) + 2 * DAY
    return textOf({ ...BASE, rows: [{ name: 'n', bars: [] }], from, to, now: 0, width: 50 })
  }
  // 48 hours in 48 columns: the second midnight is after 25, 23 and 24 of them.
  assert.equal(axisFor('2026-10-25')[0]!.indexOf('Mon 26'), 2 + 25)
  assert.equal(axisFor('2026-03-29')[0]!.indexOf('Mon 30'), 2 + 23)
  assert.equal(axisFor('2026-11-16')[0]!.indexOf('Tue 17'), 2 + 24)
  assert.equal(axisFor('2026-10-25')[1], '  00:00  06:00 12:00 18:00 00:00 06:00 12:00 18:00')
})

test('the axis has minutes for an hour, days for weeks, months for a year', () => {
  const axisFor = (days: number, width = 80) => {
    const [above, below] = textOf({ ...BASE, rows: [{ name: 'n', bars: [] }], to: MONDAY + days * DAY, width })
    return [above!.trim(), below!.trim()].map(line => line.replaceAll(/ {2,}/g, ' '))
  }
  assert.deepEqual(axisFor(1 / 24), [
    'Mon 16 Nov',
    '00:00 00:05 00:10 00:15 00:20 00:25 00:30 00:35 00:40 00:45 00:50 00:55',
  ])
  assert.deepEqual(axisFor(7), ['Nov 2026', 'Mon 16 Tue 17 Wed 18 Thu 19 Fri 20 Sat 21 Sun 22'])
  assert.deepEqual(axisFor(14), ['Nov 2026', '16 17 18 19 20 21 22 23 24 25 26 27 28 29'])
  assert.deepEqual(axisFor(14, 120), [
    'Nov 2026',
    'Mon 16 Tue 17 Wed 18 Thu 19 Fri 20 Sat 21 Sun 22 Mon 23 Tue 24 Wed 25 Thu 26 Fri 27 Sat 28 Sun 29',
  ])
  assert.deepEqual(axisFor(365), ['2026 2027', 'Dec Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov'])
  assert.deepEqual(axisFor(40_000), ['', ''])
})

const RUNS = Number(process.env['HOLDFAST_RUNS'] ?? 200)
const instant = fc.integer({ min: at('2026-01-01T00:00[UTC]'), max: at('2027-12-31T00:00[UTC]') })
const anyBar: fc.Arbitrary<Bar> = fc
  .record({
    look: fc.constantFrom('taken', 'held', 'booked', 'maintenance', 'setup', 'retired', 'broken'),
    start: instant,
    length: fc.option(fc.integer({ min: 1, max: 90 * DAY })),
    label: fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('日本語の仕事', 'a👍b', '')),
  })
  .map(({ look, start, length, label }) => ({
    look,
    start,
    end: length === null ? null : start + length,
    label: label.replaceAll(/\p{C}/gu, '?'),
  }))
const anyChart: fc.Arbitrary<Chart> = fc
  .record({
    rows: fc.array(
      fc.record({
        name: fc.stringMatching(/^[a-z0-9-]{1,40}$/),
        bars: fc.array(anyBar, { maxLength: 6 }),
        isHeading: fc.boolean(),
      }),
      {
        maxLength: 4,
      },
    ),
    from: instant,
    length: fc.integer({ min: 60_000, max: 800 * DAY }),
    now: instant,
    zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'),
    width: fc.integer({ min: 10, max: 250 }),
    isAscii: fc.boolean(),
  })
  .map(({ length, ...chart }) => ({ ...chart, to: chart.from + length }))

test('every line has exactly the width of the terminal', () => {
  fc.assert(
    fc.property(anyChart, chart => {
      for (const line of textOf(chart)) assert.equal(widthOf(line), chart.width, line)
    }),
    { numRuns: RUNS },
  )
})

test('a bar is in the columns that it touches, and nowhere else', () => {
  fc.assert(
    fc.property(anyChart, fc.array(anyBar, { maxLength: 6 }), ({ from, to, zone, width }, bars) => {
      const window: TimeWindow = { from, to, zone, columns: width }
      const cells = cellsOf(bars, window)
      assert.equal(cells.length, width)
      const edge = (column: number) => from + ((to - from) * column) / width
      const touches = (one: Bar, column: number) =>
        one.start < edge(column + 1) && (one.end === null || one.end > edge(column))
      // Edges fall between milliseconds: what is nearer to one than that may be on either side.
      const isNear = (one: Bar, column: number) =>
        [one.start, one.end ?? Infinity].some(
          end => Math.min(Math.abs(end - edge(column)), Math.abs(end - edge(column + 1))) < 1,
        )
      for (const [column, cell] of cells.entries()) {
        const touching = bars.filter(one => touches(one, column))
        if (cell === null) assert.ok(touching.every(one => isNear(one, column)))
        else if (cell !== 'several') assert.ok(touching.includes(cell) || isNear(cell, column))
      }
    }),
    { numRuns: RUNS },
  )
})

test('now is in its column, or out of sight', () => {
  fc.assert(
    fc.property(anyChart, chart => {
      const rows = [{ name: 'n', bars: [] }]
      const last = textOf({ ...chart, rows, isAscii: true }).at(-1)!
      const column = columnOf(chart.now, { ...chart, columns: chart.width - 2 })
      assert.equal(last.indexOf('|'), column >= 0 && column < chart.width - 2 ? column + 2 : -1)
    }),
    { numRuns: RUNS },
  )
})

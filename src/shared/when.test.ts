import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { durationIn, instantIn, shownFully, shownSpan, shownWhen, unclearIn, zoneShown } from './when.ts'

const BERLIN = 'Europe/Berlin'
const NEW_YORK = 'America/New_York'
/** Monday, 16 November 2026, 08:30 in Berlin, 02:30 in New York. */
const NOW = Date.parse('2026-11-16T07:30:00Z')
const iso = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().replace(':00.000Z', 'Z'))
const inBerlin = (text: string, toward: 'future' | 'past' = 'future') =>
  iso(instantIn(text, { now: NOW, zone: BERLIN, toward }))

describe('an instant that someone says', () => {
  const UNDERSTOOD: Record<string, string> = {
    now: '2026-11-16T07:30Z',
    'today 18:00': '2026-11-16T17:00Z',
    'Today at 6pm': '2026-11-16T17:00Z',
    tomorrow: '2026-11-16T23:00Z',
    'tomorrow 9:00': '2026-11-17T08:00Z',
    '9am tomorrow': '2026-11-17T08:00Z',
    'tue 14:00': '2026-11-17T13:00Z',
    'Tuesday, 14:00': '2026-11-17T13:00Z',
    'mon 14:00': '2026-11-16T13:00Z',
    'next tue 14:00': '2026-11-24T13:00Z',
    'next mon': '2026-11-22T23:00Z',
    fri: '2026-11-19T23:00Z',
    'last fri 14:00': '2026-11-13T13:00Z',
    '14:00': '2026-11-16T13:00Z',
    '8:30': '2026-11-17T07:30Z',
    '8:00': '2026-11-17T07:00Z',
    '12am': '2026-11-16T23:00Z',
    '12:15 pm': '2026-11-16T11:15Z',
    '2026-12-01': '2026-11-30T23:00Z',
    '2026-12-01 9:00': '2026-12-01T08:00Z',
    '2026-12-01T09:00:30': '2026-12-01T08:00:30.000Z',
    '2026-07-01T09:00': '2026-07-01T07:00Z',
    '20 Nov 9:00': '2026-11-20T08:00Z',
    'Nov 20': '2026-11-19T23:00Z',
    'November 20, 2027 9:00 am': '2027-11-20T08:00Z',
    'Fri 20 Nov 19:00': '2026-11-20T18:00Z',
    'Fri 13 Nov 19:00': '2026-11-13T18:00Z',
    '15 Nov': '2027-11-14T23:00Z',
    '29 Feb': '2028-02-28T23:00Z',
    '2026-12-01T09:00Z': '2026-12-01T09:00Z',
    '2026-12-01 09:00:00+0200': '2026-12-01T07:00Z',
    '2026-12-01T09:00-05:00': '2026-12-01T14:00Z',
    '2026-12-01T09:00:00.250Z': '2026-12-01T09:00:00.250Z',
    '2026-12-01T09:00+01:00[Europe/Berlin]': '2026-12-01T08:00Z',
    '9:00 Europe/Berlin': '2026-11-16T08:00Z',
    '9:00[America/New_York]': '2026-11-16T14:00Z',
    'tomorrow 9:00 America/New_York': '2026-11-17T14:00Z',
    '9:00 UTC': '2026-11-16T09:00Z',
    '9:00Z': '2026-11-16T09:00Z',
    '9:00 UTC+5:30': '2026-11-17T03:30Z',
    '14:00 CET': '2026-11-16T13:00Z',
    '1 Jul 14:00 CEST': '2027-07-01T12:00Z',
    'in 2h': '2026-11-16T09:30Z',
    '+2h': '2026-11-16T09:30Z',
    '2h': '2026-11-16T09:30Z',
    '1d12h': '2026-11-17T19:30Z',
    '30 min ago': '2026-11-16T07:00Z',
    'yesterday 9:00': '2026-11-15T08:00Z',
  }
  for (const [text, means] of Object.entries(UNDERSTOOD)) {
    test(`${text} is understood`, () => assert.equal(inBerlin(text), means))
  }

  const BACK: Record<string, string> = {
    '2h': '2026-11-16T05:30Z',
    'in 2h': '2026-11-16T09:30Z',
    fri: '2026-11-12T23:00Z',
    'mon 7:00': '2026-11-16T06:00Z',
    '14:00': '2026-11-15T13:00Z',
    '8:00': '2026-11-16T07:00Z',
    '20 Nov': '2025-11-19T23:00Z',
  }
  for (const [text, means] of Object.entries(BACK)) {
    test(`${text}, looking back`, () => assert.equal(inBerlin(text, 'past'), means))
  }

  const REFUSED = [
    [
      '',
      ' ',
      'soon',
      'noon',
      'next week',
      'tomorrow tomorrow',
      '14',
      '2026',
      '3/4',
      '3/4 14:00',
      '03.04.2026',
      '2026/12/01',
    ],
    ['25:00', '24:00', '9:60', '13pm', '0am', '9', 'tue 14', '30 Feb', '31 Nov 9:00', '2026-02-30', '2026-13-01'],
    [
      'Thu 20 Nov 19:00',
      'Thu 20 Nov 2026',
      '9:00 Europe/Nowhere',
      '14:00 EST',
      '14:00 CEST',
      '14:00-16:00',
      '9:00+02:00',
    ],
    [
      '2026-12-01T09:00+05:00[Europe/Berlin]',
      'in 2h ago',
      '+',
      'in',
      '1M',
      '2h1d',
      '1 Jul 14:00 CET',
      'x'.repeat(10_000),
    ],
  ].flat()
  for (const text of REFUSED) {
    test(`${text.slice(0, 40) || 'nothing'} is refused`, () => assert.equal(inBerlin(text), null))
  }

  test('what could mean two things is refused with a word', () => {
    assert.match(unclearIn('3/4')!, /4 Mar/)
    assert.match(unclearIn('14')!, /14:00/)
    assert.match(unclearIn('14:00 EST')!, /Europe\/Berlin/)
    assert.equal(unclearIn('soon'), null)
  })
})

describe('where clocks are set', () => {
  const at = (text: string, zone: string) => iso(instantIn(text, { now: NOW, zone }))

  test('a time that does not exist means as much later', () => {
    assert.equal(at('2027-03-28 02:30', BERLIN), '2027-03-28T01:30Z')
    assert.equal(at('2027-03-14 02:30', NEW_YORK), '2027-03-14T07:30Z')
  })

  test('of a time that comes twice it is the first, unless the zone says the second', () => {
    assert.equal(at('2026-10-25 02:30', BERLIN), '2026-10-25T00:30Z')
    assert.equal(at('2026-10-25 02:30 CEST', BERLIN), '2026-10-25T00:30Z')
    assert.equal(at('2026-10-25 02:30 CET', BERLIN), '2026-10-25T01:30Z')
    assert.equal(at('2026-11-01 01:30', NEW_YORK), '2026-11-01T05:30Z')
    assert.equal(at('2026-11-01 01:30 EST', NEW_YORK), '2026-11-01T06:30Z')
  })

  test('a day that has no midnight begins with its first moment', () => {
    assert.equal(at('2018-11-04', 'America/Sao_Paulo'), '2018-11-04T03:00Z')
  })

  test('a span is exact, a day is by the calendar', () => {
    const before = { now: Date.parse('2027-03-27T11:00Z'), zone: BERLIN }
    assert.equal(iso(instantIn('1d', before)), '2027-03-28T11:00Z')
    assert.equal(iso(instantIn('tomorrow 12:00', before)), '2027-03-28T10:00Z')
  })
})

describe('a span that someone says', () => {
  const SPANS: Record<string, number | null> = {
    '90': 90_000,
    '90s': 90_000,
    '90m': 5_400_000,
    '2h': 7_200_000,
    '1.5h': 5_400_000,
    '2d': 172_800_000,
    '1w': 604_800_000,
    '1d12h': 129_600_000,
    '1 h 56 min': 6_960_000,
    '2 hours': 7_200_000,
    PT10M: 600_000,
    P1DT12H: 129_600_000,
    P1W: 604_800_000,
    '0s': 0,
    P: null,
    PT: null,
    P1DT: null,
    '': null,
    h: null,
    '-2h': null,
    '12h1d': null,
    '1h1h': null,
    '1M': null,
    '1y': null,
    '2h ': 7_200_000,
    '9999999999s': null,
    '999999999w': null,
    P999999999D: null,
  }
  for (const [text, ms] of Object.entries(SPANS)) {
    test(`${text || 'nothing'} is ${ms === null ? 'refused' : 'understood'}`, () => assert.equal(durationIn(text), ms))
  }
})

describe('a time that is shown', () => {
  const shown = (text: string, zone = BERLIN) => shownWhen(Date.parse(text), { now: NOW, zone })

  test('is as near as it is', () => {
    assert.equal(shown('2026-11-16T19:07:59Z'), 'today 20:07')
    assert.equal(shown('2026-11-17T01:07Z'), 'tomorrow 02:07')
    assert.equal(shown('2026-11-20T18:00Z'), 'Fri 19:00')
    assert.equal(shown('2026-11-22T18:00Z'), 'Sun 19:00')
    assert.equal(shown('2026-11-23T18:00Z'), 'Mon 23 Nov 19:00')
    assert.equal(shown('2026-11-15T08:00Z'), 'yesterday 09:00')
    assert.equal(shown('2026-11-13T18:00Z'), 'Fri 13 Nov 19:00')
    assert.equal(shown('2027-11-20T18:00Z'), 'Sat 20 Nov 2027 19:00')
  })

  test('is of the day that its zone has', () => {
    assert.equal(shown('2026-11-17T01:07Z', NEW_YORK), 'today 20:07')
    assert.equal(shown('2026-11-17T01:07Z', 'UTC'), 'tomorrow 01:07')
  })

  test('has its zone in full, by the name that people use', () => {
    const full = (zone: string) => shownFully(Date.parse('2026-11-17T13:00Z'), { now: NOW, zone })
    assert.equal(full(BERLIN), 'Tue 17 Nov 14:00 CET')
    assert.equal(full(NEW_YORK), 'Tue 17 Nov 08:00 EST')
    assert.equal(full('Asia/Tokyo'), 'Tue 17 Nov 22:00 UTC+9')
    assert.equal(full('UTC'), 'Tue 17 Nov 13:00 UTC')
    assert.equal(zoneShown(Date.parse('2026-07-01'), BERLIN), 'CEST')
    assert.equal(zoneShown(NOW, 'America/St_Johns'), 'UTC-3:30')
  })

  test('comes with the zone if the clock shows it twice', () => {
    const now = Date.parse('2026-10-24T10:00Z')
    assert.equal(shownWhen(Date.parse('2026-10-25T00:30Z'), { now, zone: BERLIN }), 'tomorrow 02:30 CEST')
    assert.equal(shownWhen(Date.parse('2026-10-25T01:30Z'), { now, zone: BERLIN }), 'tomorrow 02:30 CET')
  })

  const zones = fc.constantFrom(
    BERLIN,
    NEW_YORK,
    'UTC',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'Asia/Tokyo',
    'Africa/Cairo',
  )
  const years = (from: number, to: number) => fc.integer({ min: Date.UTC(from, 0), max: Date.UTC(to, 0) })

  test('is read back as the same', () => {
    const far = fc.integer({ min: -800 * 86_400_000, max: 800 * 86_400_000 })
    const near = fc.integer({ min: -9 * 86_400_000, max: 9 * 86_400_000 })
    fc.assert(
      fc.property(years(2020, 2035), fc.oneof(near, far), zones, (now, away, zone) => {
        const at = Math.floor((now + away) / 60_000) * 60_000
        assert.equal(instantIn(shownWhen(now + away, { now, zone }), { now, zone }), at)
        assert.equal(instantIn(shownFully(now + away, { now, zone }), { now, zone }), at)
      }),
      { numRuns: 2_000 },
    )
  })

  test('is read back as the same around the days on which clocks are set', () => {
    const changes = [Date.parse('2026-10-25T01:00Z'), Date.parse('2026-11-01T06:00Z'), Date.parse('2026-04-04T15:00Z')]
    const minutes = fc.integer({ min: -200, max: 200 })
    fc.assert(
      fc.property(fc.constantFrom(...changes), minutes, minutes, zones, (change, before, after, zone) => {
        const [now, at] = [change + before * 60_000, change + after * 60_000]
        assert.equal(instantIn(shownWhen(at, { now, zone }), { now, zone }), at)
      }),
      { numRuns: 1_000 },
    )
  })

  test('whatever is typed, it is an instant or nothing', () => {
    const word = fc.constantFrom(
      'next',
      'tue',
      '14:00',
      'Nov',
      '20',
      '2026',
      'T',
      'Z',
      'in',
      '2h',
      'pm',
      '[',
      ']',
      '+',
      '-',
      ':',
      ' ',
      'UTC',
      '29 Feb',
      '0000-01-01',
      'ago',
    )
    const text = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 6 }).map(words => words.join(' ')),
    )
    fc.assert(
      fc.property(text, zones, (typed, zone) => {
        const at = instantIn(typed, { now: NOW, zone })
        assert.ok(at === null || Number.isSafeInteger(at))
        unclearIn(typed)
      }),
      { numRuns: 3_000 },
    )
  })
})

describe('a span that is shown', () => {
  test('has its two largest units', () => {
    assert.equal(shownSpan(6_960_000), '1 h 56 min')
    assert.equal(shownSpan(172_800_000), '2 d')
    assert.equal(shownSpan(45_900), '45 s')
    assert.equal(shownSpan(0), '0 s')
    assert.equal(shownSpan(90_061_000), '1 d 1 h')
    assert.equal(shownSpan(86_460_000), '1 d')
  })

  test('is read back as the same, but for what was left out', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e11 }), ms => {
        const read = durationIn(shownSpan(ms))!
        assert.ok(read <= ms && shownSpan(read) === shownSpan(ms))
      }),
    )
  })
})

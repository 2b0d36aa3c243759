// The thresholds of holdfast doctor.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as judge from './judgement.ts'

const DAY_MS = 86_400_000
const MIB = 1_048_576

test('the skew is 0 if both clocks may agree, else the smallest that is certain', () => {
  const at = (saidAt: number, stepMs = 1_000) => judge.skewOf({ sentAt: 10_000, receivedAt: 10_200, saidAt, stepMs })
  assert.equal(at(10_000), 0)
  assert.equal(at(9_100), 0)
  assert.equal(at(9_000), 0)
  assert.equal(at(8_000), -1_000)
  assert.equal(at(10_200), 0)
  assert.equal(at(13_000), 2_800)
  assert.equal(at(9_999, 0), -1)
})

test('a skew of two seconds is fine, more is a warning', () => {
  assert.equal(judge.judgeSkew(0, "the server's").grade, 'ok')
  assert.equal(judge.judgeSkew(2_000, "the server's").grade, 'ok')
  assert.equal(judge.judgeSkew(-2_001, "the server's").grade, 'warning')
  assert.match(judge.judgeSkew(-7_300, "the server's").found, /7\.3 s behind/)
})

test('a certificate is a warning two weeks before it expires, and wrong outside its validity', () => {
  const now = Date.parse('2030-01-01T12:00:00Z')
  const grade = (from: number, until: number) => judge.judgeCertificate(now + from, now + until, now).grade
  assert.equal(grade(-DAY_MS, 15 * DAY_MS), 'ok')
  assert.equal(grade(-DAY_MS, 13 * DAY_MS), 'warning')
  assert.equal(grade(-DAY_MS, 0), 'wrong')
  assert.equal(grade(DAY_MS, 90 * DAY_MS), 'wrong')
})

test('little disk space is a warning, very little is wrong', () => {
  assert.equal(judge.judgeDisk(2_000 * MIB, '/d').grade, 'ok')
  assert.equal(judge.judgeDisk(500 * MIB, '/d').grade, 'warning')
  assert.equal(judge.judgeDisk(99 * MIB, '/d').grade, 'wrong')
  assert.match(judge.judgeDisk(20_480 * MIB, '/d').found, /^20 GiB free in \/d$/)
})

test('a secret file that all can read is a warning, one that all can write is wrong', () => {
  const grade = (mode: number) => judge.judgeMode(mode, 'f', 'found').grade
  assert.deepEqual([0o100600, 0o100640, 0o100644, 0o100666].map(grade), ['ok', 'ok', 'warning', 'wrong'])
})

test('PostgreSQL is at least 13', () => {
  assert.equal(judge.judgePostgres(130_000, '13.0').grade, 'ok')
  assert.equal(judge.judgePostgres(120_022, '12.22').grade, 'wrong')
})

test('pending migrations are a warning, unknown ones mean that the database is newer', () => {
  assert.equal(judge.judgeMigrations(['1', '2'], ['1', '2']).grade, 'ok')
  assert.match(judge.judgeMigrations(['1', '2'], ['1']).found, /lacks 2$/)
  assert.equal(judge.judgeMigrations(['1', '2'], []).grade, 'warning')
  assert.equal(judge.judgeMigrations(['1'], ['1', '2']).grade, 'wrong')
})

test('a server of another version is a warning', () => {
  assert.equal(judge.judgeVersions('1.0.0', '1.0.0').grade, 'ok')
  assert.equal(judge.judgeVersions('1.1.0', '1.0.0').grade, 'warning')
  assert.equal(judge.judgeVersions(null, '1.0.0').grade, 'warning')
})

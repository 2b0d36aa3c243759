// holdfast watch, and lists with --watch.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { startHoldfast } from '../support/command.ts'
import { allocation, CALLER, eachLog } from '../support/events.ts'
import { until } from '../support/identity.ts'
import { expectStatus, Placement } from '../support/placement.ts'

eachLog('holdfast watch', ({ origin, tell }) => {
  const start = (line: string) => {
    const command = startHoldfast([...line.split(' '), '--url', origin(), '--os-token', CALLER['x-auth-token']])
    const shows = async (words: RegExp) => {
      const seen = await until(
        async () => command.said.stdout,
        text => words.test(text),
      )
      assert.match(seen, words, command.said.stderr)
    }
    const end = async () => {
      command.signal('SIGINT')
      assert.equal((await command.exit).code, 0, command.said.stderr)
    }
    return { shows, end, said: command.said, exit: command.exit }
  }

  test('prints a line for each event, in plain words', async () => {
    const watching = start('watch --after 0 --kind allocation')
    const node = { uuid: randomUUID(), name: 'n1' }
    await tell(allocation('job-1', 'active', 'lab', { node, until: '2030-01-01T12:00:00.000Z' }))
    await watching.shows(
      /^Tue 1 Jan 2030 00:00:00 UTC {2}allocation active {2}job-1 {2}it has a node; on n1; until Tue 1 Jan 2030 12:00 UTC {2}by alice$/m,
    )
    await tell(allocation('job-2\u001b[2J', 'ended', 'lab', { reason: 'someone ended it' }))
    await watching.shows(
      /allocation ended {2}job-2\ufffd\[2J {2}it is gone, and its node is free; someone ended it {2}by/,
    )
    await watching.end()
  })

  test('prints CloudEvents, one a line, of what was asked for', async () => {
    const watching = start('watch --after 0 --object j2 -f json')
    await tell(allocation('j1', 'created'), allocation('j2', 'created'))
    await watching.shows(/\n/)
    assert.equal(JSON.parse(watching.said.stdout).subject, 'allocation/j2')
    assert.match(watching.said.stderr, /no node, allocation, lease, provider or webhook is called j2/)
    await watching.end()
  })

  test('says what is wrong with a wish', async () => {
    const { exit } = start('watch --kind machine')
    const { code, stderr } = await exit
    assert.equal(code, 2)
    assert.match(stderr, /There is no kind 'machine'; there are allocation, /)
  })

  test('a list prints a row again when it has changed, and says what is gone', async () => {
    const api = new Placement(origin())
    const [one, other] = [await api.provider(), await api.provider()]
    const watching = start('provider list --watch -c uuid -c name -c generation')
    await watching.shows(new RegExp(`${one} .* 0$`, 'm'))
    expectStatus(await api.put(`/resource_providers/${one}`, { name: 'renamed' }), 200)
    await tell({ kind: 'resource_provider', id: one, became: 'changed' })
    await watching.shows(new RegExp(`${one} .* 0\\n(.*\\n)*${one} +renamed +0\\n$`))
    expectStatus(await api.del(`/resource_providers/${other}`), 204)
    await watching.shows(/ is gone\n$/)
    await watching.end()
    // The heading is there once, and what has not changed is not told again.
    assert.equal(watching.said.stdout.match(/generation/g)?.length, 1)
    assert.equal(watching.said.stdout.match(new RegExp(`^${other} `, 'gm'))?.length, 1)
    api.close()
  })

  test('a list in a format for programs goes on in that format', async () => {
    const api = new Placement(origin())
    const json = start('provider list -w -f json')
    const csv = start('provider list -w -f csv -c uuid -c name')
    await csv.shows(/^uuid,name/)
    const made = await api.provider()
    await json.shows(new RegExp(made))
    await csv.shows(new RegExp(`^${made},`, 'm'))
    expectStatus(await api.del(`/resource_providers/${made}`), 204)
    await json.shows(/"gone":true/)
    for (const line of json.said.stdout.trimEnd().split('\n')) assert.ok(JSON.parse(line).uuid)
    await json.end()
    await csv.end()
    api.close()
  })
})

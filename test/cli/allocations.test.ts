// holdfast allocation: asking, waiting, and why not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atShell, until } from './person.ts'

atShell('holdfast allocation', person => {
  test('an allocation is created with a node, listed, shown and given back', async () => {
    const node = await person.node('a1', 'a')
    const uuid = await person.reads(
      'allocation create --resource-class a --name job --expires-at 1h --wait -f value -c uuid',
    )
    assert.equal(await person.reads('allocation get job -f value -c node_uuid'), node)
    assert.equal(await person.reads('allocation show job --fields uuid -f value'), uuid)
    const [row] = await person.readsJson('allocation list --resource-class a --state active')
    assert.deepEqual([row.uuid, row.node_uuid], [uuid, node])
    assert.equal(await person.reads(`allocation list --node a1 --fields name -f value`), 'job')
    const { expires_at: before } = await person.readsJson('allocation show job')
    const { expires_at: later } = await person.readsJson('allocation renew job --expires-at 3h')
    assert.ok(Date.parse(later) - Date.parse(before) > 7_000_000, `${before} ${later}`)
    await person.isRefused('allocation renew job --expires-at never', 2, /'never' is no time such as 2h/)
    assert.equal(await person.reads('allocation delete job'), 'job is gone')
    await person.isRefused('allocation show job', 3, /job could not be found/)
  })

  test('times are of the clock where it is typed, in UTC for programs, and told if they were not exact', async () => {
    const make = (name: string, at: string, ...more: string[]) =>
      ['allocation', 'create', '--resource-class', 'none', '--name', name, '--expires-at', at].concat(more)
    const shown = ['allocation', 'show', 'in-berlin']
    const berlin = { TZ: 'Europe/Berlin' }
    const { code, stdout, stderr } = await person.types(make('in-berlin', '1 Jul 2030 9:00', '-f', 'json'), berlin)
    assert.deepEqual([code, stderr], [0, 'holdfast: until Mon 1 Jul 2030 09:00 CEST\n'])
    assert.equal(JSON.parse(stdout).expires_at, '2030-07-01T07:00:00+00:00')
    assert.match((await person.types(shown, berlin)).stdout, /^expires_at +Mon 1 Jul 2030 09:00 CEST$/m)
    const list = await person.types('allocation list', { TZ: 'America/New_York' })
    assert.match(list.stdout, / until \(EDT\)$/m)
    assert.match(list.stdout, / Mon 1 Jul 2030 03:00$/m)
    // An hour that New York skips.
    const skipped = await person.types(make('skipped', '2030-03-10 02:30', '-f', 'value', '-c', 'expires_at'), {
      TZ: 'America/New_York',
    })
    assert.deepEqual(
      [skipped.stdout, skipped.stderr],
      ['2030-03-10T07:30:00+00:00\n', 'holdfast: until Sun 10 Mar 2030 03:30 EDT\n'],
    )
    const over = await person.types(make('over', 'yesterday 9:00'), berlin)
    assert.deepEqual(
      [over.code, /^holdfast: yesterday 9:00 means .* CES?T, which is over$/m.test(over.stderr)],
      [2, true],
    )
    await person.reads('allocation delete in-berlin skipped')
  })

  test('when nothing fits, the causes are said, with what would help, and the exit code is 4', async () => {
    await person.node('b1', 'b')
    const wish = 'allocation create --resource-class b --trait CUSTOM_FAST --name wish --wait'
    const why = '1 of class b: 1 without CUSTOM_FAST.*without CUSTOM_FAST there is 1'
    await person.isRefused(wish, 4, new RegExp(`${why}; --wait 10m waits for one`))
    assert.equal(await person.reads('allocation list --state error -f value'), '', 'its name is free')
    await person.isRefused(`${wish} --keep`, 4, new RegExp(`${why}; holdfast allocation retry wish`))
    const told = await person.reads('allocation explain wish')
    assert.match(told, /^wish is error$/m)
    assert.match(told, /^now +missing traits +1 +CUSTOM_FAST +b1$/m)
    assert.equal((await person.readsJson('allocation explain wish')).now.causes[0].count, 1)
    await person.reads('node add trait b1 CUSTOM_FAST')
    assert.equal(await person.reads('allocation retry wish --wait -f value -c state'), 'active')
  })

  test('while it waits it says what for, and goes on when a node is freed', async () => {
    await person.node('c1', 'c')
    await person.reads('allocation create --resource-class c --name first --wait')
    const command = person.starts('allocation create --resource-class c --name second --wait-until 10m --wait')
    let said = ''
    command.child.stderr!.on('data', text => (said += text))
    await until(
      async () => said,
      text => text.includes('\n'),
    )
    assert.equal(said, 'waiting for a node: 1 of class c: 1 allocated\n')
    await person.reads('allocation delete first')
    const { code, stdout } = await command.exit
    assert.equal(code, 0)
    assert.match(stdout, /^state +active$/m)
  })

  test('waiting ends after the time that was given, and the allocation goes on without us', async () => {
    await person.isRefused(
      ['allocation', 'create', '--resource-class', 'none', '--wait', 'soon'],
      2,
      /'soon' is no duration/,
    )
    const { code, stderr } = await person.types(
      'allocation create --resource-class d --name d --wait-until 10m --wait 1s',
    )
    assert.equal(code, 1)
    assert.match(
      stderr,
      /gave up after 1 s: waiting for a node: there is none of class d \(allocation .* goes on waiting until/,
    )
    assert.equal(await person.reads('allocation show d -f value -c state'), 'allocating')
  })
})

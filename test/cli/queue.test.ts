// holdfast queue: who waits, and whose turn is next.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atShell } from './person.ts'

atShell('holdfast queue', person => {
  test('lists who waits with place and likely start, and an allocation shows its own', async () => {
    await person.node('q1', 'q')
    const make = (name: string, more: string) =>
      person.reads(`allocation create --resource-class q --name ${name} ${more}`)
    await make('holder', '--expires-at 2h --wait')
    await make('first', '--wait-until 5h --expires-at 4h')
    await make('second', '--wait-until 5h')
    const [head, ...rows] = (await person.reads('queue list')).split('\n')
    assert.match(head!, /^place +name +project +who +wants +since \(\S+\) +start \(\S+\) +because$/)
    assert.match(rows[0]!, /^1 of 2 +first .* q +.*q1 \(allocated\)$/)
    assert.match(rows[1]!, /^2 of 2 +second .* q1 \(one before it\)$/)
    const [, second] = await person.readsJson('queue list')
    assert.deepEqual([second.place, second.of, second.nodes, second.because.what], [2, 2, 1, 'ahead'])
    const shown = await person.reads('allocation show second')
    assert.match(shown, /^place +2 of 2$/m)
    assert.match(shown, /^likely_start +(today|tomorrow) /m)
    assert.match(shown, /^in_the_way +q1: allocated by \S+, holder, until /m)
    assert.match(await person.reads('allocation explain second'), /^place 2 of 2, likely start .* when q1 is free$/m)
    await person.reads('allocation delete second first holder')
    assert.equal(await person.reads('queue list -f value'), '')
  })

  test('sets priorities and shares, and shows what projects should have and had', async () => {
    const set = (words: string) => person.readsJson(`queue priority ${words}`)
    assert.equal((await set('lab 2 --share 3')).priority, 2)
    assert.deepEqual([(await set('lab -2')).priority, (await set('lab --share 4')).share], [-2, 4])
    assert.match(await person.reads('queue shares'), /^lab +-2 +4 +0 +/m)
    assert.equal((await person.readsJson('queue shares lab'))[0].share, 4)
    await person.isRefused('queue priority lab', 2, /say a level, or --share/)
    await person.isRefused('queue priority lab 11', 2, /'11' is no level from -10 to 10/)
    await person.isRefused('queue priority lab 1 --share 0', 2, /'0' is no share from 1 to 1000/)
    await set('lab 0 --share 1')
    assert.doesNotMatch(await person.reads('queue shares'), /^lab/m)
  })
})

// Machines that are handed over by hooks, at a shell: who waits for one gets it when it can be used.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { Hooks } from '../support/hooks.ts'
import { atShell, until } from './person.ts'

const hooks = new Hooks()
after(() => hooks.remove())

atShell(
  'machines that are handed over',
  person => {
    let node = ''
    before(async () => {
      await person.reads('node create --name lab-1 --resource-class lab')
      await person.reads('node manage lab-1 --wait')
      await person.reads('node provide lab-1 --wait')
      node = await person.reads('node show lab-1 -f value -c uuid')
    })
    afterEach(() => hooks.reset())
    const state = () => person.reads('node show lab-1 -f value -c provision_state')
    const isFree = async () => assert.equal(await until(state, now => now === 'available'), 'available')
    const allocations = () => person.readsJson('allocation list')

    test('allocation create --wait is done when the machine is handed over', async () => {
      hooks.tell('hand_over', 'hang')
      const waiting = person.begins('allocation create --resource-class lab --name job --wait')
      await hooks.begun('hand_over', node)
      await until(
        async () => waiting.said.stderr,
        said => /lab-1 is being handed over/.test(said),
      )
      assert.equal(waiting.said.stdout, '')
      hooks.letGo()
      const { code, stdout, stderr } = await waiting.exit
      assert.equal(code, 0, stderr)
      assert.match(stdout, /active/)
      assert.equal(await state(), 'active')
      await person.reads('allocation delete job')
      await isFree()
    })

    test('run begins its command then, and the machine is taken back when it ends', async () => {
      hooks.tell('hand_over', 'hang')
      const file = join(hooks.folder, 'ran')
      const words = ['run', '--resource-class', 'lab', '--', 'sh', '-c', `touch ${file}`]
      const { exit } = person.starts(words)
      await hooks.begun('hand_over', node)
      assert.ok(!existsSync(file))
      hooks.letGo()
      const { code, stderr } = await exit
      assert.equal(code, 0, stderr)
      assert.match(stderr, /lab-1 is yours[^]*lab-1 is given back/)
      assert.ok(existsSync(file))
      await isFree()
      assert.deepEqual(hooks.asked(node).slice(-3), ['hand_over', 'return', 'clean'])
    })

    test('whoever no longer waits gives it back', async () => {
      hooks.tell('hand_over', 'hang')
      const waiting = person.begins('allocation create --resource-class lab --wait')
      await hooks.begun('hand_over', node)
      waiting.signal('SIGINT')
      assert.equal((await waiting.exit).code, 130)
      assert.deepEqual(await allocations(), [])
      hooks.letGo()
      await isFree()
    })

    test('a hand-over that fails is told, and leaves no allocation', async () => {
      hooks.tell('hand_over', 'fail')
      const line = 'allocation create --resource-class lab --wait'
      await person.isRefused(
        line,
        4,
        /lab-1 could not be handed over: Hook hand_over failed with exit code 3: no space/,
      )
      assert.deepEqual(await allocations(), [])
      await person.reads('node undeploy lab-1 --wait')
      hooks.tell('hand_over', 'fail')
      await person.isRefused('run --resource-class lab -- true', 4, /lab-1 could not be handed over/)
      assert.deepEqual(await until(allocations, all => all.length === 0), [])
      await person.reads('node undeploy lab-1 --wait')
    })

    test('the library waits too', async () => {
      const server = await person.library()
      const seen = await server.withNode({ resource_class: 'lab' }, async ({ provision_state }) => provision_state)
      assert.equal(seen, 'active')
      await isFree()
    })
  },
  { hooks: hooks.settings('hand_over', 'return', 'clean') },
)

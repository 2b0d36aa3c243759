// holdfast node validate, boot-device, sensors …: what the machine itself is asked; and holdfast driver.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../support/baremetal.ts'
import { atShell, hasScript } from './person.ts'

atShell('holdfast and machines', person => {
  test('what a machine boots from is shown and set', async () => {
    await person.reads('node create --driver fake-hardware --name b1')
    const { boot_device, persistent, supported } = await person.readsJson('node boot-device show b1')
    assert.deepEqual([boot_device, persistent, supported.includes('disk')], ['pxe', false, true])
    assert.equal(await person.reads('node boot-device set b1 disk'), 'b1 boots from disk next time')
    assert.equal(await person.reads('node boot-device set b1 cdrom --persistent'), 'b1 boots from cdrom')
    assert.equal((await person.readsJson('node boot-device show b1')).persistent, true)
    await person.isRefused('node boot-device set b1 hope', 2, /use one of pxe/)
    assert.equal(await person.reads('node boot-mode b1 bios'), 'b1: bios is under way')
    const { nodes } = await person.library()
    await waitFor('the mode is set', async () => (await nodes.show('b1'))['boot_mode'] === 'bios')
    await person.isRefused('node boot-mode b1 hope', 2, /uefi, bios/)
  })

  test('sensors, events, lights and an interrupt', async () => {
    await person.reads('node create --driver fake-hardware --name s1')
    assert.match(await person.reads('node sensors s1 -f value -c sensor'), /Inlet Temp/)
    assert.match(await person.reads('node events s1 -f csv'), /^at,severity,text\n/)
    assert.match(await person.reads('node indicator list s1 -f value'), /^system led/)
    assert.equal(await person.reads('node indicator set s1 system led ON'), "led of s1's system is ON")
    assert.equal(await person.reads('node indicator show s1 system led -f value -c state'), 'ON')
    assert.equal(await person.reads('node nmi s1'), 's1 got a non-maskable interrupt')
  })

  test('validate says of each interface whether it works, and fails when the machine can’t be driven', async () => {
    const { nodes } = await person.library()
    await nodes.create({ driver: 'fake-hardware', name: 'v1' })
    await nodes.create({ driver: 'fake-hardware', name: 'v2', driver_info: { fake_fail: 'validate' } })
    const rows = await person.readsJson('node validate v1')
    assert.deepEqual(
      rows.find((row: { interface: string }) => row.interface === 'power'),
      { interface: 'power', result: true, reason: null },
    )
    await person.isRefused('node validate v2', 1, /v2 can't be driven: fake-hardware was told to fail/)
  })

  test(
    'a console is opened in the terminal, takes what is typed, and ends with Ctrl+]',
    { skip: !hasScript },
    async () => {
      const { nodes } = await person.library()
      await nodes.create({ driver: 'fake-hardware', name: 'c1' })
      const terminal = person.atTerminal('holdfast node console c1', 80)
      await waitFor('the console is open', async () => terminal.shown().includes('open'))
      terminal.type('who is there\r')
      await waitFor('the echo is there', async () => terminal.shown().includes('who is there'))
      terminal.type('\u001d')
      assert.equal((await terminal.exit).code, 0)
      await nodes.create({ driver: 'fake-hardware', name: 'c2', console_interface: 'no-console' })
      await person.isRefused('node console c2', 1, /c2 has no console/)
    },
  )

  test('drivers are those of live conductors', async () => {
    assert.match(await person.reads('driver list -f value -c name'), /fake-hardware/)
    assert.equal((await person.readsJson('driver show fake-hardware')).default_power_interface, 'fake')
    assert.match(await person.reads('driver property list fake-hardware -f csv'), /fake_delay,/)
    await person.isRefused('driver show none', 3, /Driver none could not be found/)
  })
})

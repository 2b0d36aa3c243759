// A BMC that speaks IPMI: OpenIPMI's ipmi_sim, with a machine of two files and a serial line that echoes.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { programAt } from '../../src/shared/program-at.ts'

const path = process.env['PATH'] ?? ''
export const ipmitool = programAt('ipmitool', path)
/** What keeps the tests from running here; false if nothing does. */
export const lacking =
  ipmitool === null || programAt('ipmi_sim', path) === null
    ? 'needs ipmitool and ipmi_sim: apt install ipmitool openipmi'
    : false

export interface Bmc {
  port: number
  driverInfo: Record<string, unknown>
  power(): string
  boot(): string
  setPower(value: '0' | '1'): void
  /** What the BMC did with the machine, such as `power 1`. */
  deeds(): string[]
  /** All that was typed on the serial line. */
  typed(): string
  /** The machine prints on its serial line. */
  print(text: string): void
  /** The BMC goes away, and comes back at the same address. */
  crash(): Promise<void>
  start(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Called by ipmi_sim: `get power boot`, `set power 1`, `set boot pxe`. */
const CHASSIS = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
while [ $# -gt 0 ] && [ "$1" != get ] && [ "$1" != set ]; do shift; done
verb=$1; shift
if [ "$verb" = get ]; then
  for what in "$@"; do case $what in power | boot) echo "$what:$(cat "$what")" ;; esac; done
else
  while [ $# -gt 1 ]; do
    echo "$1 $2" >> deeds
    case $1 in power | boot) echo "$2" > "$1" ;; shutdown) [ -e deaf ] || echo 0 > power ;; esac
    shift 2
  done
fi
`

/** A sensor of 35 degrees, and an event. */
const SDR =
  '00 00 51 01 33 20 00 01 23 01 67 48 01 01 ff 7f ff 7f 3f 3f 80 01 00 00 01 00 00 00 00 00 07 00 00 00 7f 80 ' +
  '00 00 00 00 00 00 02 02 00 00 00 c8 54 65 6d 70 20 43 50 55'
const EMULATION = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
sel_enable 0x20 1000 0x0a
sel_add 0x20 0x02 0x10 0x20 0x30 0x40 0x20 0x00 0x04 0x01 0x01 0x01 0x57 0x00 0x00
sensor_add 0x20 0 1 0x01 0x01
sensor_set_value 0x20 0 1 0x23 0
main_sdr_add 0x20 ${SDR.split(' ')
  .map(byte => `0x${byte}`)
  .join(' ')}
mc_enable 0x20
`

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}

export async function startBmc(): Promise<Bmc> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-ipmi-'))
  const file = (name: string) => join(folder, name)
  const serial = await startSerial()
  const port = await freeUdpPort()
  mkdirSync(file('state'))
  writeFileSync(file('deeds'), '')
  writeFileSync(file('power'), '0\n')
  writeFileSync(file('boot'), 'default\n')
  writeFileSync(file('chassis'), CHASSIS)
  chmodSync(file('chassis'), 0o755)
  writeFileSync(file('bmc.emu'), EMULATION)
  writeFileSync(
    file('lan.conf'),
    `name "bmc"
set_working_mc 0x20
startlan 1
addr 127.0.0.1 ${port}
priv_limit admin
allowed_auths_admin none md2 md5 straight
guid a123456789abcdefa123456789abcdef
endlan
chassis_control "${file('chassis')}"
sol "tcp:127.0.0.1:${serial.port}" 115200
user 2 true "admin" "s3cret" admin 10 none md2 md5 straight
`,
  )
  let stop = async () => {}
  const start = async () => {
    const child = spawn('ipmi_sim', ['-n', '-c', file('lan.conf'), '-f', file('bmc.emu'), '-s', file('state')], {
      stdio: 'ignore',
    })
    let isOver = false
    const over = once(child, 'exit').then(() => (isOver = true))
    stop = async () => {
      child.kill('SIGKILL')
      await over
    }
    while (!isBound(port)) {
      assert.ok(!isOver, `ipmi_sim ended before it listened at port ${port}`)
      await sleep(50)
    }
  }
  await start()
  return {
    port,
    driverInfo: {
      ipmi_address: '127.0.0.1',
      ipmi_port: port,
      ipmi_username: 'admin',
      ipmi_password: 's3cret',
    },
    power: () => readFileSync(file('power'), 'utf8').trim(),
    boot: () => readFileSync(file('boot'), 'utf8').trim(),
    setPower: value => writeFileSync(file('power'), `${value}\n`),
    deeds: () => readFileSync(file('deeds'), 'utf8').split('\n').filter(Boolean),
    typed: serial.typed,
    print: serial.print,
    crash: () => stop(),
    start,
    async [Symbol.asyncDispose]() {
      await stop()
      serial.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Looks from outside: whoever tries the port by taking it keeps ipmi_sim from it for that moment. */
function isBound(port: number): boolean {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} `
  return readFileSync('/proc/net/udp', 'utf8').includes(address)
}

async function startSerial() {
  let typed = ''
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.on('data', piece => {
      typed += piece.toString('latin1')
      socket.write(`heard ${piece.toString('latin1')}`)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    typed: () => typed,
    print: (text: string) => sockets.forEach(socket => void socket.write(text)),
    stop: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

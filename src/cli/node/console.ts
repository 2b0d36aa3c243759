// holdfast node console: the serial line of a machine in this terminal.
import type { Command } from 'commander'
import type { ByteSocket, Holdfast } from '../../client/index.ts'
import { onServer, type ServerFlags, serverCommand } from '../client-command.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import { say, tell } from '../output.ts'
import { terminal } from '../terminal.ts'

/** Ctrl+], as telnet and virsh have it. */
const LEAVE = 0x1d

export function addConsoleCommand(node: Command): void {
  const help = 'open its console in this terminal; Ctrl+] leaves'
  serverCommand(node, 'console <node>', help, 'node console n1').action(
    onServer(async (server, ident: string, _: ServerFlags) => openConsole(server, ident)),
  )
}

async function openConsole({ nodes }: Holdfast, ident: string): Promise<void> {
  const { console, console_enabled: isEnabled } = await nodes.console(ident)
  if (console === null) throw new CommandFailure(EXIT.failed, `${ident} has no console`, null)
  if (console.kind === 'link') return say(`The console of ${ident} is a page of its BMC: ${console.url}`)
  if (!isEnabled) await nodes.setConsole(ident, true)
  tell('Ctrl+] leaves the console')
  const reason = await attached(await nodes.openConsole(ident))
  if (reason !== '') throw new CommandFailure(EXIT.failed, `the console of ${ident} was closed: ${reason}`, null)
}

/** Passes on what is typed and what is shown. Returns why the server closed it; nothing if the user left. */
function attached(socket: ByteSocket): Promise<string> {
  const { stdin, stdout } = terminal()
  const raw = stdin as { setRawMode?: (isRaw: boolean) => void }
  const { promise, resolve } = Promise.withResolvers<string>()
  const leave = () => {
    socket.close()
    resolve('')
  }
  const typed = (chunk: Buffer) => {
    const end = chunk.indexOf(LEAVE)
    const text = end < 0 ? chunk : chunk.subarray(0, end)
    if (text.length > 0 && socket.readyState === WebSocket.OPEN) socket.send(new Uint8Array(text))
    if (end >= 0) leave()
  }
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('message', ({ data }) =>
    typeof data === 'string' ? tell(data) : void stdout.write(new Uint8Array(data as ArrayBuffer)),
  )
  socket.addEventListener('close', ({ reason }) => resolve(reason || 'the connection broke'))
  socket.addEventListener('error', () => resolve('the server refused the connection'))
  socket.addEventListener('open', () => {
    raw.setRawMode?.(true)
    stdin.on('data', typed).resume()
  })
  return promise.finally(() => {
    raw.setRawMode?.(false)
    stdin.off('data', typed).pause()
  })
}

// Opens the console of a machine: a web socket of this server, or the address of a page of its BMC.
import { server } from './session.ts'

interface Listener {
  shown: (bytes: ArrayBuffer) => void
  told: (words: string) => void
  ended: (why: string) => void
}

export type OpenConsole =
  | { kind: 'stream'; type: (text: string) => void; close: () => void }
  | { kind: 'link'; url: string }
  | null

export async function openConsole(uuid: string, { shown, told, ended }: Listener): Promise<OpenConsole> {
  const { nodes } = server()
  const { console, console_enabled: isEnabled } = await nodes.console(uuid)
  if (console === null || console.kind === 'link') return console
  if (!isEnabled) await nodes.setConsole(uuid, true)
  const socket = await nodes.openConsole(uuid)
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('message', ({ data }) => (typeof data === 'string' ? told(data) : shown(data as ArrayBuffer)))
  socket.addEventListener('close', ({ reason }) => ended(reason))
  return {
    kind: 'stream',
    type: text => {
      if (socket.readyState === WebSocket.OPEN) socket.send(new TextEncoder().encode(text))
    },
    close: () => socket.close(),
  }
}

// Fetches a file for a boot ISO. Our own process does it, at the word of whoever deploys: so it takes http and https alone,
// so many bytes, in so much time, and keeps only what looks like what it should be.
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Dispatcher } from 'undici'
import { limits } from '../../shared/limits.ts'

/** Why a boot ISO can't be made, for whoever deploys. */
export class Unmade extends Error {}

interface Wanted {
  url: string
  called: 'kernel' | 'ramdisk'
  bytesMax: number
}

export async function fetchTo(file: string, wanted: Wanted, signal: AbortSignal): Promise<void> {
  const late = AbortSignal.timeout(limits.bootFileMs)
  const unmade = (reason: string) => new Unmade(`the ${wanted.called} at ${shown(wanted.url)} ${reason}`)
  try {
    const body = await opened(wanted.url, { signal: AbortSignal.any([signal, late]), unmade })
    await pipeline(body, limited(wanted.bytesMax, unmade), createWriteStream(file, { mode: 0o600 }))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Unmade) throw error
    if (late.aborted) throw unmade(`did not come within ${limits.bootFileMs / 1_000} seconds`)
    const { code, message } = error as { code?: string; message: string }
    throw unmade(`can't be fetched: ${code ?? message}`)
  }
  // What is no kernel and no ramdisk must not reach the machine: it may be an answer that was meant for this process alone.
  if (!IS[wanted.called](await beginningOf(file))) throw unmade(`is no ${wanted.called}`)
}

interface Asking {
  signal: AbortSignal
  unmade: (reason: string) => Unmade
}

async function opened(from: string, { signal, unmade }: Asking): Promise<Dispatcher.ResponseData['body']> {
  const { request } = await import('undici')
  let url = new URL(from)
  for (let hops = 0; hops <= limits.bootFileRedirectsMax; hops++) {
    const { statusCode, headers, body } = await request(url, { signal })
    if (statusCode === 200) return body
    await body.dump()
    const to = [headers.location].flat()[0]
    if (statusCode < 300 || statusCode > 399 || to === undefined)
      throw unmade(`is not there: the answer is ${statusCode}`)
    const next = URL.parse(to, url)
    if (next?.protocol !== 'https:' && next?.protocol !== url.protocol) throw unmade('leads to another kind of address')
    url = next
  }
  throw unmade('leads from one address to the next')
}

const limited = (bytesMax: number, unmade: Asking['unmade']) =>
  async function* (source: AsyncIterable<Buffer>) {
    let bytes = 0
    for await (const piece of source) {
      bytes += piece.length
      if (bytes > bytesMax) throw unmade(`has more than ${bytesMax} bytes`)
      yield piece
    }
  }

/** What follows the path may be a key, and is left out. */
function shown(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

async function beginningOf(file: string): Promise<Buffer> {
  await using handle = await open(file)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1_024), 0, 1_024, 0)
  return buffer.subarray(0, bytesRead)
}

/** A newc archive, or one compressed with gzip, xz, zstd, lz4, bzip2, lzma or lzo: all that Linux unpacks. */
const RAMDISKS = [
  '303730373031',
  '303730373032',
  '1f8b',
  'fd377a585a00',
  '28b52ffd',
  '02214c18',
  '425a68',
  '5d0000',
  '894c5a4f',
]

const IS: Record<Wanted['called'], (beginning: Buffer) => boolean> = {
  // The header of x86, that of ARM, or a program for UEFI.
  kernel: bytes =>
    bytes.toString('latin1', 514, 518) === 'HdrS' ||
    bytes.toString('latin1', 56, 60) === 'ARMd' ||
    bytes.toString('latin1', 0, 2) === 'MZ',
  ramdisk: bytes => RAMDISKS.some(magic => bytes.toString('hex').startsWith(magic)),
}

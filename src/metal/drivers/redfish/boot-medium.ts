// The medium that a deployment boots: an ISO that is named, or one that the API makes of a kernel and a ramdisk.
import { isObject } from '../../../shared/is-object.ts'
import { limits } from '../../../shared/limits.ts'
import { plainText } from '../../../shared/plain-text.ts'
import { bootIsoUrl, kernelBootOf, namedIn } from '../../media/kernel-boot.ts'
import type { PlannedPart } from '../parts.ts'
import { HardwareFailure, type Machine } from '../port.ts'
import type { Visit } from './visit.ts'

/** Where BMCs reach this service, or null. */
export interface MediaHost {
  readonly mediaUrl: string | null
}

/** The ISO of the instance, else the one that all instances of this machine boot. */
export const bootIsoOf = (machine: Pick<Machine, 'instanceInfo' | 'driverInfo'>): unknown =>
  namedIn(machine)['boot_iso'] ?? null

/** What the BMC gets. */
export function isoUrlOf(machine: Machine, { mediaUrl }: MediaHost): string {
  if (kernelBootOf(machine) === null) return bootIsoOf(machine) as string
  if (mediaUrl === null) throw new HardwareFailure(NO_MEDIA_URL.kernel)
  return bootIsoUrl(mediaUrl, machine)
}

const needed = (what: string) =>
  `${what} needs the setting --media-url: the address under which BMCs reach this service.`

export const NO_MEDIA_URL = { drive: needed('A config drive'), kernel: needed('A kernel with a ramdisk') }

/** In words. What follows the path of a URL may be a key, and is left out. */
export function mediumShown(machine: Machine): string {
  const kernel = kernelBootOf(machine)?.kernel
  const { origin, pathname } = new URL(kernel ?? (bootIsoOf(machine) as string))
  return `${kernel === undefined ? '' : 'the kernel '}${origin}${pathname}`
}

/** Waits until the API has made the ISO, so that the BMC finds it, and so that a failure is told here. */
export const buildBootIso = (visit: Visit, host: MediaHost): PlannedPart => ({
  interface: 'boot',
  step: 'build_boot_iso',
  run: () => untilMade(isoUrlOf(visit.machine, host), visit),
})

async function untilMade(url: string, { pause, signal }: Visit): Promise<void> {
  const late = AbortSignal.timeout(limits.bootIsoMs)
  let silences = 0
  while (!late.aborted) {
    const answer = await ask(url, AbortSignal.any([signal, AbortSignal.timeout(limits.bootIsoAskMs)]))
    signal.throwIfAborted()
    if (answer.status === 200 || answer.status === 206) return
    silences = answer.status === null ? silences + 1 : 0
    if (silences >= limits.bootIsoTries) {
      throw new HardwareFailure(`Nobody answers at ${new URL(url).origin}, which --media-url names: ${answer.words}`)
    }
    if (answer.status !== null && answer.status !== 503) throw new HardwareFailure(answer.words)
    await pause(limits.bootIsoPauseMs)
  }
  throw new HardwareFailure(`The boot ISO was not made within ${limits.bootIsoMs / 1_000} seconds.`)
}

/** Asks for one byte, because the answer to HEAD has no words. The status is null when there is no answer. */
async function ask(url: string, signal: AbortSignal): Promise<{ status: number | null; words: string }> {
  try {
    const { request } = await import('undici')
    const { statusCode: status, body } = await request(url, { headers: { range: 'bytes=0-0' }, signal })
    if (status !== 200 && status !== 206 && status !== 503) {
      return { status, words: (await wordsIn(body)) ?? `The API answers ${status} for the boot ISO.` }
    }
    await body.dump()
    return { status, words: '' }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    return { status: null, words: code ?? message }
  }
}

/** What our own API says of the failure. A proxy in between may say anything. */
async function wordsIn(body: AsyncIterable<Buffer>): Promise<string | null> {
  let text = ''
  for await (const piece of body) if ((text += piece.toString()).length > limits.bootIsoAnswerCharsMax) return null
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    const message = isObject(error) && error['kind'] === 'boot_iso_unmade' ? error['message'] : null
    return typeof message === 'string' ? plainText(message) : null
  } catch {
    return null
  }
}

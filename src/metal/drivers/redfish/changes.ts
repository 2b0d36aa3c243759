// Changes to a BMC's resources: If-Match, and waiting for the tasks that a BMC makes of them.
import { countdown } from '../../../clock/countdown.ts'
import { isObject } from '../../../shared/is-object.ts'
import { limits } from '../../../shared/limits.ts'
import type { Json } from '../port.ts'
import { BmcAway, BmcRefusal, linkIn } from './bmc.ts'
import { type Client, retryAfterMs, type Wanted } from './client.ts'
import type { Reply } from './wire.ts'
import { hostOf, refusal, textOf } from './words.ts'

type Asking = Pick<Wanted, 'signal' | 'tries' | 'requireLock'>

/** With If-Match from a read just before. BMCs that dislike their own ETags get other forms of it. */
export async function patched(client: Client, path: string, body: Json, asking: Asking): Promise<Reply> {
  let last: BmcRefusal | null = null
  for (const ifMatch of ladder(await etagOf(client, path, asking))) {
    try {
      const headers = ifMatch === null ? {} : { 'if-match': ifMatch }
      return await client.request({ ...asking, method: 'PATCH', path, body, headers })
    } catch (error) {
      if (!(error instanceof BmcRefusal) || ![412, 428].includes(error.status)) throw error
      last = error
    }
  }
  throw last!
}

async function etagOf(client: Client, path: string, asking: Asking): Promise<string | null> {
  try {
    const reply = await client.request({ ...asking, method: 'GET', path })
    const inBody = isObject(reply.body) ? reply.body['@odata.etag'] : null
    return reply.header('etag') || (typeof inBody === 'string' && inBody !== '' ? inBody : null)
  } catch (error) {
    // What can't be read may be changed all the same.
    if (error instanceof BmcRefusal && [404, 405, 501].includes(error.status)) return null
    throw error
  }
}

/** As it is, then strong, then none; for those who insist on one, any. */
export function ladder(etag: string | null): (string | null)[] {
  if (etag === null) return [null, '*']
  return etag.startsWith('W/') ? [etag, etag.slice(2), null] : [etag, null]
}

const UNDER_WAY = new Set(['New', 'Pending', 'Running', 'Starting', 'Stopping', 'Suspended', 'Service', 'Cancelling'])
const FAILED = new Set(['Exception', 'Killed', 'Cancelled', 'Interrupted'])

/** The answer itself, or what became of the task that it names. */
export async function finished(client: Client, reply: Reply, { signal }: Asking): Promise<Reply> {
  const monitor = reply.status === 202 ? monitorIn(reply) : null
  // Without a monitor there is nothing to wait for: the rooms look at what became of it.
  if (monitor === null) return reply
  const left = countdown(client.pace.taskMs)
  for (let [now, missed] = [reply, 0]; ;) {
    await client.pause(Math.min(retryAfterMs(now) ?? client.pace.taskPollMs, limits.redfishRetryAfterMsMax), {
      ...reply,
      signal,
    })
    try {
      now = await client.request({ method: 'GET', path: monitor, signal })
      missed = 0
      if (!isUnderWay(client, now)) return now
    } catch (error) {
      if (!(error instanceof BmcRefusal) || ![404, 410].includes(error.status)) throw error
      // It ended and was cleared away before we looked; or it isn't there yet.
      if (error.status === 410 || ++missed >= limits.redfishTaskMissedMax) return { ...reply, status: 204, body: null }
    }
    if (left() <= 0) {
      const seconds = Math.round(client.pace.taskMs / 1_000)
      throw new BmcAway(
        `The BMC at ${hostOf(client.access)} did not finish ${reply.method} ${reply.path} in ${seconds} s.`,
      )
    }
  }
}

/** The task that the body shows beats Location: some name a log there. */
function monitorIn(reply: Reply): string | null {
  const [body, shown] = [reply.body, linkIn(reply.body)]
  const isTask = isObject(body) && ('TaskState' in body || /#(Task|Job)\./.test(textOf(body['@odata.type'])))
  return isTask && shown !== null ? shown : (reply.header('location') ?? shown)
}

/** A monitor says 202 until it is done; a task says so itself. */
function isUnderWay(client: Client, reply: Reply): boolean {
  const { body, status } = reply
  const state = isObject(body) ? body['TaskState'] : undefined
  if (typeof state === 'string' && FAILED.has(state)) throw failedTask(client, reply, state)
  return status === 202 || (typeof state === 'string' && UNDER_WAY.has(state))
}

function failedTask(client: Client, reply: Reply, state: string): BmcRefusal {
  const messages = (reply.body as Json)['Messages']
  const body = { error: { message: `the task ended as ${state}`, '@Message.ExtendedInfo': messages } }
  return refusal(client.access, { ...reply, status: 500, body })
}

// People who hold nodes for a while, renew the holds, and let them lapse.
import { GONE, type Known, type Model } from '../model.ts'
import { type Actor, Client, instant, wholeSecond } from './actor.ts'

interface Hold {
  uuid: string
  known: Known
  until: number
}

interface Options {
  model: Model
  nodes: readonly string[]
  until: number
  pauseMs: number
  toleranceMs: number
}

const HOLDS = '/baremetal/v1/reservations'

export function holder({ model, nodes, until, pauseMs, toleranceMs }: Options): Actor {
  return async (service, chance, told) => {
    const client = new Client(service, told)
    const isLate = ({ until }: Hold) => service.now() > until - toleranceMs
    while (service.now() < until) {
      const hold = fresh()
      const instance = chance.uuid()
      const wanted = (uuid: string) => ({
        uuid,
        instance_uuid: instance,
        node_uuid: [chance.pick(nodes), chance.pick(nodes)],
        expires_at: instant(hold.until),
      })
      const made = await model.write(hold.known, 'there', () => client.post(HOLDS, wanted(hold.uuid)))
      if (made.outcome === 'done') await have(hold, () => wanted(chance.uuid()))
      await service.sleep(chance.int(pauseMs))
    }

    function fresh(): Hold {
      const uuid = chance.uuid()
      const hold: Hold = {
        uuid,
        until: wholeSecond(service.now() + 2_000 + chance.int(6_000)),
        known: model.keep(`hold ${uuid}`, async one => {
          const { status } = await one.get(`${HOLDS}/${uuid}`)
          if (status === 404) return isLate(hold) ? hold.known.now : GONE
          return status === 200 ? 'there' : null
        }),
      }
      return hold
    }

    async function have(hold: Hold, again: () => object): Promise<void> {
      if (chance.happens(0.4)) {
        const { outcome } = await client.post(HOLDS, again())
        if (outcome === 'done' && !isLate(hold))
          client.found('model', `hold ${hold.uuid} is there, and another for the same instance was made`)
      }
      await service.sleep(chance.int(pauseMs))
      if (chance.happens(0.5)) await renew(hold)
      // Looked at shortly before its end, when others may be at it.
      if (chance.happens(0.5)) await service.sleep(Math.max(0, hold.until - toleranceMs - 300 - service.now()))
      if (hold.known.isSure) await model.look(hold.known, client)
      if (chance.happens(0.4)) await model.write(hold.known, GONE, () => client.del(`${HOLDS}/${hold.uuid}`))
    }

    async function renew(hold: Hold): Promise<void> {
      const later = hold.until + 1_000 * (1 + chance.int(5))
      const body = [{ op: 'replace', path: '/expires_at', value: instant(later) }]
      const { outcome } = await client.patch(`${HOLDS}/${hold.uuid}`, body)
      if (outcome === 'done') hold.until = wholeSecond(later)
    }
  }
}

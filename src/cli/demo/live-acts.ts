// Carries out over HTTP what the demo's people decided, and reports the result.
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../client/index.ts'
import { make } from './live-make.ts'
import {
  type Acting,
  type Held,
  LIVE_EXTRA,
  liveLeaseName,
  LOOK_MS,
  nodeName,
  refused,
  unmarkLive,
  untilDecided,
} from './live-things.ts'
import type { Act, Thing } from './live.ts'
import { DEMO_TRAIT } from './marks.ts'

/** A refusal is reported, and changes nothing. */
export async function perform(acting: Acting, act: Act<Held>): Promise<void> {
  const who = 'thing' in act ? act.thing.who : act.who
  try {
    if (act.kind === 'give back') await giveBack(acting, act.thing)
    else if (act.kind === 'deploy') await deploy(acting, act.thing)
    else if (act.kind === 'ask in vain') await askInVain(acting, act)
    else await make(acting, act)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    const name = 'thing' in act ? act.thing.name : act.name
    acting.say({ who, text: `${act.kind} ${name}: ${error.message}`, isRefused: true })
  }
}

async function askInVain(acting: Acting, act: Extract<Act, { kind: 'ask in vain' }>): Promise<void> {
  const { who, name, resourceClass, traits } = act
  const { allocations } = await acting.crowd.as(who)
  const { uuid } = await allocations.create({
    name,
    resource_class: resourceClass,
    traits: [...traits, DEMO_TRAIT],
    owner: acting.crowd.projectOf(who.project),
    extra: LIVE_EXTRA,
  })
  await refused(acting, who, name, await untilDecided(acting, who, uuid))
}

/** A deployment that takes longer than this has failed. */
const DEPLOY_LOOKS_MAX = 200

async function deploy(acting: Acting, thing: Held): Promise<void> {
  const { crowd, say } = acting
  const { who, name } = thing
  const { nodes } = await crowd.as(who)
  const node = thing.node!
  const isHold = thing.kind === 'hold'
  thing.isBusy = true
  try {
    if (isHold) {
      thing.kind = 'machine'
      await nodes.update(node, [{ op: 'add', path: '/extra/live', value: true }])
    }
    await nodes.provision(node, 'active', isHold ? { reservation_uuid: thing.id } : {})
    say({
      who,
      text: `deploys ${nodeName(acting, thing)}${isHold ? ', which was held' : ` of ${name}`}`,
      isRefused: false,
    })
    for (let looks = 0; looks < DEPLOY_LOOKS_MAX; looks++) {
      const { provision_state } = await nodes.show(node, ['provision_state'])
      if (provision_state === 'active' || provision_state === 'deploy failed') break
      await sleep(LOOK_MS)
    }
    thing.state = 'deployed'
  } catch (error) {
    // The hold may be used up, so it is dropped.
    if (isHold) acting.drop(thing)
    throw error
  } finally {
    thing.isBusy = false
  }
}

async function giveBack(acting: Acting, thing: Held): Promise<void> {
  const { crowd, say, drop } = acting
  const { who, kind, name, id, node, state } = thing
  thing.isBusy = true
  const server = await crowd.as(who)
  const place = nodeName(acting, thing)
  const unmark = () => unmarkLive(server, node!)
  const undeploy = () => server.nodes.provision(node!, 'deleted')
  const ways: Record<Thing['kind'], [() => Promise<unknown>, string]> = {
    allocation:
      state === 'deployed'
        ? [undeploy, `undeploys ${place}; ${name} is over`]
        : [() => server.allocations.delete(id), `gives ${place} back; ${name} is over`],
    hold: [() => server.reservations.delete(id), `lets ${place} go`],
    machine: [() => unmark().then(undeploy), `undeploys ${place}`],
    maintenance: [() => server.nodes.endMaintenance(node!).then(unmark), `${place} is well again`],
    lease: [() => server.leases.delete(id), `lease ${liveLeaseName(name)} is cancelled`],
    server: [() => server.servers.delete(id), `server ${name} is deleted`],
    claim: [() => crowd.admin.claims.delete(id), `claim ${name} is given back`],
  }
  const [act, text] = ways[kind]
  try {
    await act()
    say({ who, text, isRefused: false })
    drop(thing)
  } catch (error) {
    // 404: it has ended by itself.
    if (!(error instanceof ApiError) || error.status !== 404) throw error
    drop(thing)
  } finally {
    thing.isBusy = false
  }
}

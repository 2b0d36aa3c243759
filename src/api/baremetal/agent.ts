// /v1/lookup and /v1/heartbeat: for the agents of ramdisks, which have no login.
import type { Caller } from '../../identity/caller.ts'
import { networkOf } from '../../identity/networks.ts'
import { canonicalUuid } from '../../ledger/uuid.ts'
import { giveToken, lookUp, requireAgent, takeHeartbeat } from '../../metal/agent.ts'
import { problem } from '../../problems/problem.ts'
import { type Json, jsonText, type JsonText, MEMBERS, shownIn } from '../../shared/json.ts'
import { limits } from '../../shared/limits.ts'
import { audited } from '../frame/audited.ts'
import type { Operation } from '../operation.ts'
import { Count, Document, Flag, named, Text, Uuid } from '../shapes.ts'
import * as c from './collection.ts'
import { Links, linksTo } from './links.ts'
import { nodeIdent } from './nodes.ts'
import { type Answer, type MetalRequest, parametersOf } from './request.ts'
import { masked } from './secrets.ts'
import { since, type Word } from './versions.ts'
import { Type } from '../../shared/type.ts'
import { expected } from '../../shared/expected.ts'

const refuse = (reason: string) => problem('invalid_parameter', { reason })

const PARAMETERS = parametersOf({ addresses: Text, node_uuid: Uuid })

const Found = named('LookedUp', {
  node: named('LookedUpNode', {
    uuid: Uuid,
    properties: Document,
    instance_info: Document,
    driver_internal_info: Document,
    links: Links,
  }),
  config: named('AgentConfig', {
    heartbeat_timeout: Count,
    agent_token: Text,
    agent_token_required: Flag,
  }),
})

showLookup.operation = {
  summary: 'Tell the agent of a ramdisk which node its machine is',
  description: 'The token is told once. An agent that asks again gets asterisks.',
  query: [PARAMETERS],
  answers: { 200: Found },
} satisfies Operation

export async function showLookup(request: MetalRequest): Promise<Answer> {
  const { now, base } = request
  const given = request.parameters(PARAMETERS)
  const asker = { uuid: uuidIn(given.get('node_uuid')), addresses: addressesIn(given.get('addresses')) }
  if (asker.uuid === null && asker.addresses.length === 0)
    throw refuse('A lookup needs addresses, MAC addresses with commas between, or a node_uuid.')
  requireRoom(request)
  const { clock, store } = by(request, 'baremetal:driver:ipa_lookup')
  // Only what is written takes a turn of the writers: a stranger's question reads.
  const { node, isTold } = await store.read(() => lookUp(asker))
  const newToken = clock.newSecret(limits.agentTokenBytes).toString('base64url')
  const token = isTold ? null : await store.write(() => giveToken(node.uuid, newToken, now))
  const body = {
    node: {
      uuid: node.uuid,
      properties: forAgent(node.properties),
      instance_info: forAgent(node.instance_info),
      driver_internal_info: {},
      links: linksTo(base, `nodes/${node.uuid}`),
    },
    config: {
      heartbeat_timeout: limits.agentHeartbeatSeconds,
      agent_token: token ?? '******',
      agent_token_required: true,
    },
  }
  return { status: 200, body, headers: { 'cache-control': 'no-store' } }
}

/** What an agent is told of its node: on which disk to write, and how the machine boots. Images aren't a stranger's. */
const FOR_AGENTS: ReadonlySet<string> = new Set(['root_device', 'capabilities'])

function forAgent(text: JsonText<Json>): Json {
  const kept = Object.entries(shownIn(text, MEMBERS)).filter(([key]) => FOR_AGENTS.has(key))
  return shownIn(masked(jsonText(Object.fromEntries(kept))) as JsonText<Json>, MEMBERS)
}

/** Limits what strangers at one address can make us read. */
function requireRoom({ context, raw }: MetalRequest): void {
  const waitMs = context.agentCalls.take(networkOf(raw.ip))
  if (waitMs > 0) throw problem('too_many_attempts', { retrySeconds: Math.ceil(waitMs / 1_000) })
}

/** The audit names agents by their address; they are no users. */
const AGENT: Caller = { user: 'agent', project: null, roles: new Set(), systemScope: false }

const by = ({ context, raw }: MetalRequest, action: string) => audited(context, raw, { caller: AGENT, action })

function uuidIn(given: string | undefined): string | null {
  if (given === undefined) return null
  const uuid = canonicalUuid(given)
  if (uuid === null) throw refuse(expected('a UUID', 'node_uuid', given))
  return uuid
}

/** The MAC addresses. What is none is left out: InfiniBand cards have longer ones. */
function addressesIn(given: string | undefined): string[] {
  const words = (given ?? '').split(',')
  if (words.length > limits.agentAddressesMax)
    throw refuse(`addresses has at most ${limits.agentAddressesMax} MAC addresses.`)
  return words.map(word => c.macOf(word)).filter(address => address !== null)
}

const CALLABLE = '^https?://[^\\s/?#]+([/?#]\\S*)?$'
const isShort = c.isText(1_024)
const STATUSES = ['start', 'end', 'error']

/** Fields that came with a later version. */
const SINCE: Readonly<Record<string, Word>> = {
  agent_version: 'agentVersion',
  agent_token: 'agentToken',
  agent_verify_ca: 'agentVerifyCa',
  agent_status: 'agentStatus',
  agent_status_message: 'agentStatus',
}

const BEAT = c.membersOf(
  'Heartbeat',
  {
    callback_url: c.is(
      Type.String({ maxLength: 1_024, pattern: CALLABLE, description: 'A URL with http or https.' }),
      value => typeof value === 'string' && isShort(value) && new RegExp(CALLABLE).test(value),
    ),
    agent_version: c.isText(),
    agent_token: c.isText(),
    agent_verify_ca: c.isText(limits.agentCertificateCharsMax),
    agent_status: c.is(Type.Unsafe<string>({ type: 'string', enum: STATUSES }), value =>
      STATUSES.includes(value as string),
    ),
    agent_status_message: c.isText(4_096),
  },
  { required: ['callback_url'], needs: SINCE },
)

postHeartbeat.operation = {
  summary: 'Take word from the agent of a ramdisk that it is there',
  body: [BEAT],
  answers: { 202: null },
} satisfies Operation

export async function postHeartbeat(request: MetalRequest): Promise<Answer> {
  const { callback_url: callbackUrl, agent_token: token, ...about } = c.membersIn(request, BEAT)
  for (const name of [...Object.keys(about), ...(token === undefined ? [] : ['agent_token'])]) {
    if (!request.has[SINCE[name]!]) throw refuse(`Field ${name} is not recognised before ${since(SINCE[name]!)}.`)
  }
  if (typeof callbackUrl !== 'string') throw refuse('A heartbeat needs a callback_url, the URL of the agent.')
  if (request.has.agentVersion && about['agent_version'] === undefined) {
    throw refuse('A heartbeat needs the agent_version, a string.')
  }
  const agentToken = c.asText(token)
  if (agentToken === null) throw refuse('An agent_token is required.')
  requireRoom(request)
  const beat = { callbackUrl, token: agentToken, about }
  const ident = nodeIdent(request)
  const { store } = by(request, 'baremetal:node:ipa_heartbeat')
  await store.read(() => requireAgent(ident, beat))
  await store.write(() => takeHeartbeat(ident, beat, request.now))
  return { status: 202 }
}

// Sends nodes on their way to a state, and waits until they are there.
import type { Holdfast, Json, Node, Verb } from '../../client/index.ts'
import type { Look, WaitOptions } from '../../client/waiting.ts'
import { answered, waitFor } from '../progress.ts'
import { Attempts } from '../client-command.ts'
import { CommandFailure, EXIT } from '../failures.ts'
import { type Asked, interruptible } from '../interrupt.ts'
import { say } from '../output.ts'
import type { Wait } from '../wait-flags.ts'

interface Move {
  verb: Verb
  /** The state that it leads to. */
  to: string
  more: Json
}

export async function provisionAndWait(server: Holdfast, wait: Wait, idents: readonly string[], move: Move) {
  const onTheWay = new Set<string>()
  // A node that is halfway is of use to nobody, so Ctrl-C doesn't stop it.
  const kept = () => {
    const [first] = onTheWay
    if (first === undefined) return 'nothing is under way'
    const [names, go] = [[...onTheWay].join(', '), onTheWay.size === 1 ? 'goes' : 'go']
    return `${names} ${go} on to ${move.to}; look with: ${wait.line(`node show ${first}`)}`
  }
  const asked: Asked = { what: 'it', cancel: null, isMade: () => true, kept, left: kept }
  await interruptible(asked, async signal => {
    const options = { timeoutMs: wait.timeoutMs, startedAt: wait.startedAt, signal }
    const attempts = new Attempts()
    await attempts.each(idents, async ident => {
      signal.throwIfAborted()
      onTheWay.add(ident)
      await provision(server, ident, move, options)
    })
    if (!signal.aborted) for (const ident of idents) if (!attempts.succeeded.has(ident)) onTheWay.delete(ident)
    await attempts.each([...attempts.succeeded], async ident => {
      await waitFor(async each => lookAt(await nodeOf(server.within(each), ident), ident, move.to), options)
      onTheWay.delete(ident)
      say(`${ident} is ${move.to}`)
    })
    attempts.finish()
  })
}

async function provision(server: Holdfast, ident: string, { verb, to, more }: Move, options: WaitOptions) {
  await answered<true>(
    {
      send: async signal => {
        await server.within(signal).nodes.provision(ident, verb, more)
        return true
      },
      find: async signal => {
        const node = await nodeOf(server.within(signal), ident)
        // An inspection ends where it began, so the state doesn't tell whether it was asked for. It may be repeated.
        const isThere = verb !== 'inspect' && node.provision_state === to
        return node.target_provision_state !== null || isThere ? true : null
      },
    },
    options,
  )
}

const FIELDS = ['uuid', 'name', 'provision_state', 'target_provision_state', 'last_error']
const nodeOf = ({ nodes }: Holdfast, ident: string) => nodes.show(ident, FIELDS)

function lookAt(node: Node, ident: string, wanted: string): Look<Node> {
  if (node.provision_state === wanted) return { done: node }
  if (node.target_provision_state === null || isFailed(node)) {
    const why = node.last_error ? `: ${node.last_error}` : ''
    throw new CommandFailure(EXIT.failed, `${ident} is ${node.provision_state}, not ${wanted}${why}`)
  }
  return { waitingFor: `${ident} is ${node.provision_state} on its way to ${wanted}` }
}

const isFailed = ({ provision_state: state }: Node) => /fail|error/.test(state)

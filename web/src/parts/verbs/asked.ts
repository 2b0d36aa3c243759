// Which sheet or question about machines is open. One at a time, shown once by the shell.
import { createSignal } from 'solid-js'
import type { Machine } from '../../../../src/client/status.ts'
import { forNext } from '../../data/session.ts'

/** Provision verbs that are asked about first. */
export type AskedVerb = 'deploy' | 'rebuild' | 'undeploy' | 'rescue'
export type PowerTarget = 'on' | 'off' | 'reboot'

export interface Failure {
  name: string
  why: string
}

export type Asked = { machines: readonly Machine[] } &
  /** By so much, or until a time that is asked for. */
  (
    | { what: 'extend'; byMs: number | 'until' | null }
    | { what: 'end' }
    | { what: 'maintenance' }
    | { what: 'note' }
    | { what: 'purpose' }
    | { what: 'traits' }
    | { what: 'delete' }
    | { what: 'provision'; verb: AskedVerb }
    | { what: 'power'; target: PowerTarget }
    /** What couldn't be done with some of many. */
    | { what: 'report'; title: string; failed: readonly Failure[] }
  )

const [asked, setAsked] = createSignal<Asked | null>(null)
export { asked }
export const ask = (question: Asked) => setAsked(question)
export const closeAsked = () => setAsked(null)
forNext(closeAsked)

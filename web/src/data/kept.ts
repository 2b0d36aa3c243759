// Something of the server that the status doesn't have, kept nearly true: asked again when the fleet changes, but not often.
import { createEffect, createSignal, on, onCleanup } from 'solid-js'
import type { Holdfast } from '../../../src/client/index.ts'
import { serverNow } from './clock.ts'
import { reasonOf } from './doing.ts'
import { fleet } from './fleet.ts'
import { isLive } from './live.ts'
import { server } from './session.ts'

export interface Kept<T> {
  /** null until it is known. */
  value: () => T | null
  /** Why it isn't known. What was known stays. */
  refusal: () => string | null
  again: () => Promise<void>
}

const GAP_MS = 3_000

export function createKept<T>(load: (server: Holdfast) => Promise<T>): Kept<T> {
  const [value, setValue] = createSignal<T | null>(null)
  const [refusal, setRefusal] = createSignal<string | null>(null)
  let asked = 0
  let askedAt = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  const again = async () => {
    clearTimeout(timer)
    timer = undefined
    const number = ++asked
    askedAt = serverNow()
    try {
      const found = await load(server())
      if (number !== asked) return
      setValue(() => found)
      setRefusal(null)
    } catch (error) {
      if (number === asked) setRefusal(reasonOf(error))
    }
  }
  createEffect(
    on([fleet.version, isLive], () => {
      timer ??= setTimeout(() => void again(), waitMs(askedAt))
    }),
  )
  onCleanup(() => {
    clearTimeout(timer)
    asked++
  })
  return { value, refusal, again }
}

/** The clock may be set meanwhile. */
const waitMs = (askedAt: number) => Math.max(0, Math.min(GAP_MS, askedAt + GAP_MS - serverNow()))

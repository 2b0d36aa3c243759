// Asks a driver a question, and is done within the given time whatever the driver does.
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../shared/limits.ts'
import { type Driver, HardwareFailure, type Machine, type Site } from '../drivers/port.ts'
import type { Answer, Question } from '../drivers/questions.ts'

interface Within extends Pick<Site, 'requireLock'> {
  ms: number
  /** Aborted when the process stops. */
  signal: AbortSignal
}

export async function driverAsked(
  driver: Driver,
  question: Question,
  machine: Machine,
  { ms, signal, ...site }: Within,
): Promise<Answer> {
  // Its settings are all that can be wrong.
  if (!driver.ask && question.name === 'validate') return {}
  if (!driver.ask) throw new HardwareFailure(`Driver ${driver.name} does not support ${wordsOf(question)}.`)
  const enoughMs = Math.max(0, ms - limits.callMarginMs)
  const late = AbortSignal.timeout(enoughMs)
  const over = AbortSignal.any([signal, late])
  const reason = () =>
    late.aborted
      ? `The machine did not answer within ${Math.round(enoughMs / 1_000)} s.`
      : 'The conductor stopped before the machine had answered.'
  const answer = await Promise.race([driver.ask(question, machine, over, site), outwaited(over)]).catch(error => {
    // A driver that knows more than that it took too long says so itself.
    throw over.aborted && !(error instanceof HardwareFailure) ? new HardwareFailure(reason(), { cause: error }) : error
  })
  if (JSON.stringify(answer).length > limits.callAnswerCharsMax) {
    throw new HardwareFailure(`The answer of the machine is longer than ${limits.callAnswerCharsMax} characters.`)
  }
  return answer
}

/** Rejects a moment after the signal, in which a driver may say what it knows. */
async function outwaited(signal: AbortSignal): Promise<never> {
  await new Promise<void>(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await sleep(limits.callMarginMs / 4, null, { ref: false })
  throw new Error('the driver did not stop')
}

/** What a question is about, for people. */
export const wordsOf = ({ name }: Pick<Question, 'name'>): string => name.replaceAll('_', ' ')

// Asks a driver a question, and is done within the given time whatever the driver does.
import { limits } from '../../shared/limits.ts'
import { type Driver, HardwareFailure, type Machine } from '../drivers/port.ts'
import type { Answer, Question } from '../drivers/questions.ts'

interface Within {
  ms: number
  signal: AbortSignal
}

export async function driverAsked(
  driver: Driver,
  question: Question,
  machine: Machine,
  { ms, signal }: Within,
): Promise<Answer> {
  const { name } = driver
  // Its settings are all that can be wrong.
  if (!driver.ask && question.name === 'validate') return {}
  if (!driver.ask) throw new HardwareFailure(`Driver ${name} does not support ${wordsOf(question)}.`)
  const enough = Math.max(0, ms - limits.callMarginMs)
  const late = AbortSignal.timeout(enough)
  const over = AbortSignal.any([signal, late])
  const aborted = new Promise<never>((_, reject) => {
    const end = () =>
      reject(
        late.aborted
          ? new HardwareFailure(`The machine did not answer within ${Math.round(enough / 1_000)} s.`)
          : new HardwareFailure('The conductor stopped before the machine had answered.'),
      )
    if (over.aborted) end()
    else over.addEventListener('abort', end, { once: true })
  })
  const answer = await Promise.race([driver.ask(question, machine, over), aborted])
  if (JSON.stringify(answer).length > limits.callAnswerCharsMax) {
    throw new HardwareFailure(`The answer of the machine is longer than ${limits.callAnswerCharsMax} characters.`)
  }
  return answer
}

/** What a question is about, for people. */
export const wordsOf = ({ name }: Pick<Question, 'name'>): string => name.replaceAll('_', ' ')

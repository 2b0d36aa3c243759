// What the actors see of the simulated service, and what a check says.

/** Choices, all from the seed. Streams with other names are independent of each other. */
export interface Chance {
  /** A whole number from 0 up to, not including, `below`. */
  int(below: number): number
  pick<T>(from: readonly T[]): T
  happens(probability: number): boolean
  uuid(): string
  stream(name: string): Chance
}

export interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers?: Record<string, string>
  body?: unknown
}

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: unknown
}

/** The service as clients see it: several processes, any of which may die, sleep, or lose an answer. */
export interface Service {
  /** Sends to any process that takes requests, or the one named. Null if no answer came: it may be done or not. */
  send(request: Request, process?: number): Promise<Answer | null>
  /** Virtual milliseconds since 1970. */
  now(): number
  sleep(ms: number): Promise<void>
}

export interface Finding {
  /** Name of the check. */
  check: string
  text: string
}

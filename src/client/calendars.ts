// Calendars to subscribe to.
import { type Api, type Json, segment } from './wire.ts'

/** Whose leases and allocations it shows: a user's or a project's by id, or a node's by name or uuid. */
export type CalendarOf = { user: string } | { project: string } | { node: string }

export interface Calendar extends Json {
  id: string
  of: CalendarOf
  /** The ids of who made it. */
  user: string
  project: string | null
  created_at: string
  last_read_at: string | null
}

export interface NewCalendar extends Calendar {
  /** Shown only once. Whoever has it can read the calendar. */
  url: string
}

export class Calendars {
  readonly #api: Api
  readonly #base: string

  /** `base` is the URL of the API as we reach it. */
  constructor(api: Api, base: string) {
    this.#api = api
    this.#base = base
  }

  /** Without `of`, a calendar of the user who is logged in. */
  async create(of?: CalendarOf): Promise<NewCalendar> {
    const made = await this.#api.post<NewCalendar>('/calendars', of && { of })
    // Behind a proxy, the host that the server knows may be wrong.
    return { ...made, url: `${this.#base}/calendar/${made.url.split('/').at(-1)}` }
  }
  async list(): Promise<Calendar[]> {
    return (await this.#api.get<{ calendars: Calendar[] }>('/calendars')).calendars
  }
  delete = (id: string) => this.#api.delete(`/calendars/${segment(id)}`)
}

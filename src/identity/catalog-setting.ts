// Reads the setting `catalog`: where clients find each service, by type, region and interface.
import { isObject } from '../shared/is-object.ts'
import { limits } from '../shared/limits.ts'
import { UsageError } from '../shared/usage-error.ts'

export const REGION = 'RegionOne'
export const INTERFACES = ['public', 'internal', 'admin'] as const
export type Interface = (typeof INTERFACES)[number]

/** `own`, `hidden`, or the URL of another server. */
export type Place = string
export type Places = Readonly<Partial<Record<Interface, Place>>>

export interface CatalogEntry {
  /** The service's name; null if the setting doesn't say. */
  readonly name: string | null
  readonly regions: ReadonlyMap<string, Places>
}

const TYPE = /^[a-z0-9][a-z0-9_-]{0,62}$/
const WORD = /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}$/
// Without a user and password: everyone who logs in reads it.
const URL_TEXT = /^https?:\/\/[^@\s]{1,500}$/

const wrong = (at: string, words: string) => new UsageError(`catalog: ${at} ${words}`)

/** The entries by the type of the service, or throws: which one is wrong, and what would be right. */
export function readCatalog(given: Readonly<Record<string, unknown>>): ReadonlyMap<string, CatalogEntry> {
  const entries = Object.entries(given)
  if (entries.length > limits.catalogEntriesMax) {
    throw new UsageError(`catalog: at most ${limits.catalogEntriesMax} services, not ${entries.length}`)
  }
  return new Map(entries.map(([type, entry]) => [checkedType(type), readEntry(type, entry)]))
}

function checkedType(type: string): string {
  if (!TYPE.test(type)) throw wrong(`'${type}'`, 'is no type of a service, such as compute, network or volumev3')
  return type
}

function readEntry(type: string, entry: unknown): CatalogEntry {
  if (!isObject(entry)) return { name: null, regions: new Map([[REGION, readPlaces(type, entry)]]) }
  const { name = null, regions, ...rest } = entry
  if (name !== null && !(typeof name === 'string' && WORD.test(name))) {
    throw wrong(`${type}.name`, 'is no name: letters, digits, spaces and ._-')
  }
  if (regions === undefined) return { name, regions: new Map([[REGION, readPlaces(type, rest)]]) }
  if (Object.keys(rest).length > 0) {
    throw wrong(type, `has regions, so ${Object.keys(rest).join(', ')} belong below one of them`)
  }
  return { name, regions: readRegions(type, regions) }
}

function readRegions(type: string, given: unknown): Map<string, Places> {
  if (!isObject(given)) throw wrong(`${type}.regions`, 'must name regions, and in each where the service is')
  const entries = Object.entries(given)
  if (entries.length > limits.catalogRegionsMax) {
    throw wrong(`${type}.regions`, `are more than ${limits.catalogRegionsMax}`)
  }
  return new Map(
    entries.map(([region, places]) => {
      if (!WORD.test(region)) throw wrong(`${type}.regions`, `has '${region}', which is no name of a region`)
      return [region, readPlaces(`${type}.regions.${region}`, places)]
    }),
  )
}

/** One place for all interfaces, or `url` for all and some apart. */
function readPlaces(at: string, given: unknown): Places {
  if (!isObject(given)) return everywhere(readPlace(at, given))
  const { url, ...apart } = given
  const places: Partial<Record<Interface, Place>> = url === undefined ? {} : everywhere(readPlace(`${at}.url`, url))
  for (const [reach, place] of Object.entries(apart)) {
    if (!isInterface(reach)) throw wrong(at, `has '${reach}'; there are name, url, public, internal, admin and regions`)
    places[reach] = readPlace(`${at}.${reach}`, place)
  }
  return places
}

const everywhere = (place: Place): Record<Interface, Place> => ({ public: place, internal: place, admin: place })
const isInterface = (word: string): word is Interface => (INTERFACES as readonly string[]).includes(word)

function readPlace(at: string, given: unknown): Place {
  const isRight = given === 'own' || given === 'hidden' || (typeof given === 'string' && isUrl(given))
  if (!isRight) throw wrong(at, 'must be own, hidden, or an http(s) URL without a user')
  return given
}

const isUrl = (text: string) => URL_TEXT.test(text) && URL.canParse(text)

// What a dialect says of itself. The frame does the rest: it is the same for all of them.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { Target } from '../../identity/policy.ts'
import type { Problem, ProblemKind } from '../../problems/problem.ts'
import type { Described } from '../operation.ts'
import type { Action } from '../policy.ts'
import type { Request } from './request.ts'
import type { Version } from './versions.ts'

export interface Answer {
  status: number
  /** Written as JSON, unless it is that already. */
  body?: object | string | Buffer
  headers?: Record<string, string>
  /** Path of what was made, as in the route table. */
  location?: string
  /** When what is shown was last changed; null shows no time, undefined neither time nor caching. */
  modified?: number | null
}

export interface Route<Word extends string = never> {
  handle: Described<(request: Request<Word>) => Answer | Promise<Answer>>
  /** What the caller must be allowed; null where there is nothing to permit. */
  action: Action | null
  /** What the permission is about; where it isn't said, `ownProject` of the dialect tells. */
  about?: (request: Request<Word>) => Target
  /** The permission depends on the thing that the request is about, so it is asked when that is found. */
  onFound?: boolean
  /** Needs no token. */
  isOpen?: true
  /** What the client's version must have. */
  needs?: Word
  /** Said when it doesn't: the path isn't there, or just the method. */
  absent?: ProblemKind & ('route_not_found' | 'method_not_allowed')
  /** The body must be JSON, or the answer will be. */
  json?: 'body' | 'answer'
  /** Looks at the media type before the version. */
  mediaTypeFirst?: true
  /** The answer comes before the work is done. */
  isAccepted?: boolean
  /** Only there with --test-clock. */
  isForTests?: true
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Methods<Word extends string = never> = Readonly<Partial<Record<Method, Route<Word>>>>
/** All URLs of an API: path, method, route. */
export type Routes<Word extends string = never> = Readonly<Record<string, Methods<Word>>>

/** Throws a problem, or lets the request pass. May say something in the headers of the answer. */
export type Check<Word extends string = never> = (request: Request<Word>, reply: FastifyReply) => void

/** Among the checks: who calls is asked here. Not a function like the others, because the answer may take a while. */
export const TOKEN = 'token'
export type Checks<Word extends string = never> = readonly (Check<Word> | typeof TOKEN)[]

/** A document that says which versions there are. */
export interface VersionDocument {
  show: Described<(base: string) => object>
  /** Below the prefix. */
  location?: string
}

export interface Refusal {
  status: number
  body: object | string
  /** Where it isn't the dialect's own. */
  type?: string
  headers?: Readonly<Record<string, string>>
}

export const JSON_TYPE = 'application/json'
export const JSON_UTF8 = 'application/json; charset=utf-8'

export interface Dialect<Word extends string = never> {
  prefix: string
  /** Where the table's paths begin, below the prefix. */
  below: string
  routes: Routes<Word>
  /** How else a path of the table may be written. */
  spellings?: (path: string) => readonly string[]
  /** What is left out at the end of a name in a path. */
  suffix?: string
  /** What is at none of its paths is refused by the root of the server. */
  isPartOfRoot?: true
  /** Answers to HEAD as to GET. */
  headIsGet?: true
  /** By their path below the prefix. */
  documents?: Readonly<Record<string, VersionDocument>>
  documentType?: string

  /** The order of the checks is the one that clients know. Clients see it: of two mistakes the first is told. */
  checks: {
    /** At every path below the prefix, also where there is none. */
    everywhere: Checks<Word>
    /** At the paths of the table, before the body is read. */
    beforeBody?: Checks<Word>
    /** Last, before the handler. */
    beforeHandler: readonly Check<Word>[]
  }
  /** The version that a request asks for, where there are several. */
  negotiate?: (headers: IncomingHttpHeaders) => Version<Word> | void
  /** Who need not be known; where it isn't said, everyone must be. */
  isOpen?: (request: Request<Word>) => boolean
  /** Said to those who aren't known. */
  nobody?: ProblemKind & ('unauthorized' | 'not_authenticated')
  /** Said to those who may not. */
  forbidden?: ProblemKind & ('forbidden' | 'identity_forbidden')
  /** Permissions are about the caller's own project: things are looked up there, so only the role is left to ask for. */
  ownProject?: true
  /** Who may do this sees the things of all projects. */
  seesAll?: Action

  /** Paths of the table where bodies may be large. */
  bulk?: ReadonlySet<string>
  bodyBytesMax?: number
  /** Where everyone is let in, bodies must be JSON: see requireJsonType. */
  jsonBodies?: true
  /** A body's shape is looked at before what it holds. */
  shapeFirst?: true
  /** Parameters that may be there several times. */
  mayRepeat?: RegExp
  /** Said of a parameter that can't be; where it isn't said, handlers look for themselves. */
  invalidParameter?: ProblemKind & ('invalid_parameter' | 'invalid_query' | 'compute_invalid')

  /** The content type of answers. */
  type: typeof JSON_TYPE | typeof JSON_UTF8
  /** The word from which on answers say when what they show was changed. */
  caching?: Word
  /** A failure as this dialect's clients know it. */
  render: (problem: Problem, request: Request<Word>) => Refusal
}

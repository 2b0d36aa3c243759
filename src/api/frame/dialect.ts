// The description of a dialect: what differs between the APIs. The frame does what they share.
import type { WebSocket } from 'ws'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Pieces } from '../../http/pieces.ts'
import type { Target } from '../../identity/policy.ts'
import type { Problem, ProblemKind } from '../../problems/problem.ts'
import type { Context } from '../../process/context.ts'
import type { Described } from '../operation.ts'
import type { Action } from '../policy.ts'
import type { Request } from './request.ts'
import type { Version } from './versions.ts'

export interface Answer {
  status: number
  /** Objects are written as JSON; text, bytes, pieces and streams are sent as they are. */
  body?: object | string | Buffer | Pieces | Readable
  headers?: Record<string, string>
  /** Path of the new resource, as in the route table. */
  location?: string
  /** The time for Last-Modified. Null sends only Cache-Control, undefined neither header. */
  modified?: number | null
  /** It is a stream that has a place of its own, and gives back that of its request. */
  lasts?: true
  /** Takes the web socket that the client asked for, instead of an answer. */
  upgraded?: (socket: WebSocket) => void
}

export interface Route<Word extends string = never> {
  handle: Described<(request: Request<Word>) => Answer | Promise<Answer>>
  /** The permission that the caller needs; null for none. */
  action: Action | null
  /** What the permission is about; by default `ownProject` of the dialect decides. */
  about?: (request: Request<Word>) => Target
  /** The permission depends on the resource, so it is checked when the resource is found. */
  onFound?: boolean
  /** Needs no token. */
  isOpen?: true
  /** The feature that the client's version must have. */
  needs?: Word
  /** The refusal when the version lacks it: the path isn't there, or only the method, or none of its answers. */
  absent?: ProblemKind & ('route_not_found' | 'method_not_allowed' | 'not_acceptable')
  /** The body must be JSON, or the answer will be. */
  json?: 'body' | 'answer'
  /** Checks the media type before the version. */
  mediaTypeFirst?: true
  /** The answer comes before the work is done. */
  isAccepted?: boolean
  /** The answer may last: it takes a place among the streams, not among the requests in flight. */
  lasts?: true
  /** It may become a web socket: a ticket for it stands among the protocols, never in the URL. */
  isSocket?: true
  /** Exists only with --test-clock. */
  isForTests?: true
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Methods<Word extends string = never> = Readonly<Partial<Record<Method, Route<Word>>>>
/** All URLs of an API: path, method, route. */
export type Routes<Word extends string = never> = Readonly<Record<string, Methods<Word>>>

/** Throws a problem, or lets the request pass. May set headers of the answer. */
export type Check<Word extends string = never> = (request: Request<Word>, reply: FastifyReply) => void

/** Marks the place among the checks where the caller is authenticated. Not a function, because that is asynchronous. */
export const TOKEN = 'token'
export type Checks<Word extends string = never> = readonly (Check<Word> | typeof TOKEN)[]

/** A document that lists the API's versions. */
export interface VersionDocument {
  show: Described<(base: string, config: Context['config']) => object>
  /** Path for the Location header, below the prefix. */
  location?: string
}

export interface Refusal {
  status: number
  body: object | string
  /** The content type, if it isn't the dialect's own. */
  type?: string
  headers?: Readonly<Record<string, string>>
}

export const JSON_TYPE = 'application/json'
export const JSON_UTF8 = 'application/json; charset=utf-8'

export interface Dialect<Word extends string = never> {
  prefix: string
  /** The path between the prefix and the table's paths. */
  below: string
  routes: Routes<Word>
  /** Other spellings of a path of the table. */
  spellings?: (path: string) => readonly string[]
  /** An ending of names in paths that is ignored. */
  suffix?: string
  /** The root of the server refuses unknown paths, not this dialect. */
  isPartOfRoot?: true
  /** HEAD is answered like GET. */
  headIsGet?: true
  /** Version documents, by their path below the prefix. */
  documents?: Readonly<Record<string, VersionDocument>>
  documentType?: string

  /** Clients see the order of the checks: of two mistakes they are told the first. Each API keeps upstream's order. */
  checks: {
    /** At every path below the prefix, also at unknown ones. */
    everywhere: Checks<Word>
    /** At the paths of the table, before the body is read. */
    beforeBody?: Checks<Word>
    /** Last, before the handler. */
    beforeHandler: readonly Check<Word>[]
  }
  /** The version that a request asks for, if the API has several. */
  negotiate?: (headers: IncomingHttpHeaders) => Version<Word> | void
  /** Which requests need no token; by default all need one. */
  isOpen?: (request: Request<Word>) => boolean
  /** The refusal for callers without a valid token. */
  nobody?: ProblemKind & ('unauthorized' | 'not_authenticated')
  /** The refusal for callers without the permission. */
  forbidden?: ProblemKind & ('forbidden' | 'identity_forbidden')
  /** Permissions are about the caller's own project: resources are looked up there, so only the role is checked. */
  ownProject?: true
  /** Callers with this permission see the resources of all projects. */
  seesAll?: Action

  /** Paths of the table where bodies may be large. */
  bulk?: ReadonlySet<string>
  bodyBytesMax?: number
  /** Without authentication, bodies must be JSON: see requireJsonType. */
  jsonBodies?: true
  /** Checks a body's schema before its strings: see requireStorable. */
  shapeFirst?: true
  /** Query parameters that may be repeated. */
  mayRepeat?: RegExp
  /** The refusal of a parameter that holds NUL; without it, handlers check for themselves. */
  invalidParameter?: ProblemKind & ('invalid_parameter' | 'invalid_query' | 'compute_invalid')

  /** The content type of answers. */
  type: typeof JSON_TYPE | typeof JSON_UTF8
  /** The feature from which on answers have Cache-Control and Last-Modified. */
  caching?: Word
  /** Writes a failure in this dialect's format. */
  render: (problem: Problem, request: Request<Word>) => Refusal
}

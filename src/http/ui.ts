// Serves the dashboard: the files that Vite made, and its one page at every other address below /ui/. No token is needed.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import files from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../problems/problem.ts'
import { limits } from '../shared/limits.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers with files of ours, which cost little: they take no places of requests. */
    isForFiles?: boolean
  }
}

/** Where the page is. Vite knows it too, as its `base`. */
export const UI = '/ui'
/** The same folder for the sources and for what is built of them. */
const FOLDER = fileURLToPath(new URL('../../web/dist', import.meta.url))
const PAGE = 'index.html'

/** For every answer below /ui/. */
export const STRICT = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  // An address may name a machine or a person.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': [
    'accelerometer',
    'browsing-topics',
    'camera',
    'display-capture',
    'geolocation',
    'gyroscope',
    'magnetometer',
    'microphone',
    'midi',
    'payment',
    'publickey-credentials-get',
    'serial',
    'usb',
    'xr-spatial-tracking',
  ]
    .map(feature => `${feature}=()`)
    .join(', '),
}

/** The file's name has the hash of its content, so it never changes. */
const FOR_EVER = { maxAge: limits.uiFileAgeMs, immutable: true }
/** Two versions of a page may have the same size, and a package's files all have the same date: see `tagOf`. */
const ASKED_AGAIN = { cacheControl: false, etag: false, lastModified: false }

/** A scope of its own: also its refusals get the strict headers. */
export function serveFiles(scope: FastifyInstance, folder = FOLDER): void {
  void scope.register(files, { root: folder, serve: false, preCompressed: true, index: false, dotfiles: 'ignore' })
  scope.addHook('onSend', (_request, reply, _payload, sent) => {
    void reply.headers(STRICT)
    if (!reply.hasHeader('cache-control')) void reply.header('cache-control', 'no-store')
    sent()
  })
  scope.get('', (_request, reply) => reply.redirect(`${UI}/`))
  const options = { config: { isForFiles: true }, onRequest: onlyReading }
  scope.all('/*', options, (request, reply) => sendOne(folder, request, reply))
}

function onlyReading({ method }: FastifyRequest, reply: FastifyReply, next: () => void): void {
  if (method !== 'GET' && method !== 'HEAD') {
    void reply.header('allow', 'GET, HEAD')
    throw problem('method_not_allowed', {})
  }
  next()
}

async function sendOne(folder: string, request: FastifyRequest, reply: FastifyReply) {
  const { '*': path } = request.params as { '*': string }
  // A page that isn't there is the app's to show; a script that isn't there must not look like one.
  if (path.startsWith('assets/')) return reply.sendFile(path, FOR_EVER)
  for (const name of NAME.test(path) ? [path, PAGE] : [PAGE]) {
    const tag = await tagOf(join(folder, name))
    if (tag === null) continue
    void reply.header('cache-control', 'no-cache').header('etag', tag)
    if (isAmong(tag, request.headers['if-none-match'])) return reply.code(304).send()
    return reply.sendFile(name, ASKED_AGAIN)
  }
  return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT)
}

/** A file beside the page, such as an icon. No folder, nothing hidden. */
const NAME = /^\w[\w.-]*$/

const NOT_BUILT = `The dashboard is not built. In a clone of the repository: npm run build:web
The APIs are there, and so is the command: holdfast status
`

/** Names the content, compressed or not; null if there is no such file. */
async function tagOf(file: string): Promise<string | null> {
  try {
    return `W/"${createHash('sha256')
      .update(await readFile(file))
      .digest('base64url')}"`
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'EISDIR', 'ENAMETOOLONG', 'ENOTDIR'].includes(code)) return null
    throw error
  }
}

const isAmong = (tag: string, header = '') =>
  header === '*' || header.split(',').some(one => one.trim().replace(/^W\//, '') === tag.slice(2))

// Serves the dashboard: the files that Vite made, and its one page at every other address below /ui/. No token is needed.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../problems/problem.ts'

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

/** A scope of its own: also its refusals get the strict headers. */
export function serveFiles(scope: FastifyInstance, folder = FOLDER): void {
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

async function sendOne(folder: string, { params, headers }: FastifyRequest, reply: FastifyReply) {
  const { '*': path } = params as { '*': string }
  const isHashed = path.startsWith('assets/')
  const named = NAME.test(path) ? await read(join(folder, path), headers['accept-encoding']) : null
  // A page that isn't there is the app's to show. A script that isn't there must not look like one.
  if (isHashed && !named) throw problem('route_not_found', {})
  const found = named ?? (await read(join(folder, PAGE), headers['accept-encoding']))
  if (!found) return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT)
  // By content alone: all files of a package have the same date, and two pages may have the same size.
  const tag = `"${createHash('sha256').update(found.content).digest('base64url')}"`
  void reply.headers({ etag: tag, vary: 'accept-encoding', 'cache-control': isHashed ? FOR_EVER : 'no-cache' })
  if (isAmong(tag, headers['if-none-match'])) return reply.code(304).send()
  if (found.encoding !== null) void reply.header('content-encoding', found.encoding)
  return reply.type(TYPES[extname(named ? path : PAGE)] ?? 'application/octet-stream').send(found.content)
}

/** A file beside the page, such as an icon, or one with a hash in its name. No other folder, nothing hidden. */
const NAME = /^(assets\/)?\w[\w.-]*$/
/** The name has the hash of the content, so what it names never changes. */
const FOR_EVER = 'public, max-age=31536000, immutable'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

const NOT_BUILT = `The dashboard is not built. In a clone of the repository: npm run build:web
The APIs are there, and so is the command: holdfast status
`

/** The build compresses files; the best comes first. */
const ENCODINGS = { br: '.br', gzip: '.gz' }

interface Content {
  content: Buffer
  encoding: string | null
}

/** The smallest form of a file that the client takes; null if there is no such file. */
async function read(file: string, accepted = ''): Promise<Content | null> {
  for (const [encoding, ending] of Object.entries(ENCODINGS)) {
    if (!new RegExp(`(^|,)\\s*${encoding}\\s*(,|$|;(?!\\s*q=0(\\.0*)?\\s*(,|$)))`, 'i').test(accepted)) continue
    const content = await contentOf(file + ending)
    if (content) return { content, encoding }
  }
  const content = await contentOf(file)
  return content && { content, encoding: null }
}

/** Read each time: the files are few and small, and a new build shows at once. */
async function contentOf(file: string): Promise<Buffer | null> {
  try {
    return await readFile(file)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'EISDIR', 'ENAMETOOLONG', 'ENOTDIR'].includes(code)) return null
    throw error
  }
}

const isAmong = (tag: string, header = '') =>
  header === '*' || header.split(',').some(one => one.trim().replace(/^W\//, '') === tag)

// TLS from certificate files, which may be replaced while we serve.
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createSecureContext, type Server as TlsServer } from 'node:tls'
import type { Logger } from 'pino'
import { type Config, UsageError } from '../config.ts'
import { watchFiles } from '../watched-files.ts'

export interface Pair {
  cert: Buffer
  key: Buffer
}

/** The certificate and its key as the files have them, known to fit; null where TLS isn't asked for. */
export function readPair({ tlsCert, tlsKey }: Pick<Config, 'tlsCert' | 'tlsKey'>): Pair | null {
  if (tlsCert === null || tlsKey === null) return null
  try {
    const pair = { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) }
    createSecureContext(pair)
    return pair
  } catch (error) {
    throw new UsageError(`can't serve TLS with ${tlsCert} and ${tlsKey}: ${(error as Error).message}`, { cause: error })
  }
}

/** Takes up new files when they appear; what doesn't fit together (yet) changes nothing. Answers how to stop. */
export function followPair(server: Server, config: Pick<Config, 'tlsCert' | 'tlsKey'>, log: Logger): () => void {
  const { tlsCert, tlsKey } = config
  if (tlsCert === null || tlsKey === null) return () => {}
  const reload = () => {
    try {
      ;(server as unknown as TlsServer).setSecureContext(readPair(config)!)
      log.info({ file: tlsCert }, 'the certificate was read again')
    } catch (error) {
      log.error({ reason: (error as Error).message }, 'the new certificate is not usable; the old one stays')
    }
  }
  const watch = watchFiles([tlsCert, tlsKey], reload)
  process.on('SIGHUP', reload)
  return () => {
    watch.stop()
    process.off('SIGHUP', reload)
  }
}

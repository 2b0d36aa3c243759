// TLS from certificate files, which may be replaced while the server runs.
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createSecureContext, type SecureContextOptions, type Server as TlsServer } from 'node:tls'
import type { Logger } from 'pino'
import { UsageError } from '../shared/usage-error.ts'
import { watchFiles } from '../shared/watched-files.ts'

interface Pair extends SecureContextOptions {
  cert: Buffer
  key: Buffer
  /** The authorities of client certificates, where clients must show one. */
  ca?: Buffer
}

export interface TlsFiles {
  readonly tlsCert: string | null
  readonly tlsKey: string | null
  readonly tlsClientCa: string | null
}

// Forward-secret only: a key stolen later can't decrypt traffic recorded before. All TLS 1.3 ciphers are.
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':')

/** Reads the certificate and its key, and checks that they fit together; null without TLS. */
export function readPair({ tlsCert, tlsKey, tlsClientCa }: TlsFiles): Pair | null {
  if (tlsCert === null || tlsKey === null) return null
  try {
    const pair: Pair = {
      cert: readFileSync(tlsCert),
      key: readFileSync(tlsKey),
      ...(tlsClientCa !== null && { ca: readFileSync(tlsClientCa) }),
      ciphers: CIPHERS,
      honorCipherOrder: true,
      minVersion: 'TLSv1.2',
    }
    createSecureContext(pair)
    return pair
  } catch (error) {
    throw new UsageError(`can't serve TLS with ${tlsCert} and ${tlsKey}: ${(error as Error).message}`, { cause: error })
  }
}

/** Loads new files when they appear; files that don't fit together (yet) change nothing. Returns how to stop. */
export function followPair(server: Server, config: TlsFiles, log: Logger): () => void {
  const { tlsCert, tlsKey, tlsClientCa } = config
  if (tlsCert === null || tlsKey === null) return () => {}
  const reload = () => {
    try {
      ;(server as unknown as TlsServer).setSecureContext(readPair(config)!)
      log.info({ file: tlsCert }, 'reloaded the certificate')
    } catch (error) {
      log.error({ reason: (error as Error).message }, 'the new certificate is not usable; the old one stays')
    }
  }
  const watch = watchFiles([tlsCert, tlsKey, ...(tlsClientCa === null ? [] : [tlsClientCa])], reload)
  process.on('SIGHUP', reload)
  return () => {
    watch.stop()
    process.off('SIGHUP', reload)
  }
}

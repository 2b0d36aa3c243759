// A server whose catalog the real clients use, and the environment that leads them to it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { Compute } from '../support/compute.ts'
import { type Server, startServer } from '../support/server.ts'

/** One server for the tests of a group, with a client of our own beside the real ones. fsck must pass at the end. */
export function withCatalog() {
  let folder = ''
  let server: Server
  const api = new Compute()
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-catalog-'))
    server = await startServer(`sqlite:${join(folder, 'holdfast.db')}`, { auth: 'none' })
    api.reach([server.origin])
  })
  after(async () => {
    try {
      await api.fsck()
    } finally {
      api.close()
      await server.stop()
      rmSync(folder, { recursive: true })
    }
  })
  const env = () => ({
    ...process.env,
    OS_AUTH_URL: `${server.origin}/identity`,
    OS_USERNAME: 'me',
    OS_PASSWORD: 'anything',
    OS_PROJECT_NAME: 'play',
    OS_USER_DOMAIN_NAME: 'Default',
    OS_PROJECT_DOMAIN_NAME: 'Default',
    OS_REGION_NAME: 'RegionOne',
  })
  return { api, env, folder: () => folder }
}

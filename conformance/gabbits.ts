// Finds Placement's gabbi files, which are in openstack/placement, and the server settings that each needs.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join, matchesGlob, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

export type Profile = 'default' | 'legacy-rbac' | 'open-policy' | 'secure-rbac' | 'cors'

export interface Gabbit {
  name: string
  path: string
  profile: Profile
  tests: string[]
}

const IN_CHECKOUT = 'placement/tests/functional/gabbits'
const REPOSITORY = fileURLToPath(new URL('..', import.meta.url))
const USUAL_PLACES = ['../placement', '../shared/conformance/placement/gabbits']

const PROFILES: Record<string, Profile> = {
  LegacyRBACPolicyFixture: 'legacy-rbac',
  OpenPolicyFixture: 'open-policy',
  SecureRBACPolicyFixture: 'secure-rbac',
  CORSFixture: 'cors',
}

/** The folder of the files, or undefined; `given` may also be a checkout of openstack/placement. */
export function findGabbits(given: string | undefined): string | undefined {
  const places = given === undefined ? USUAL_PLACES.map(place => join(REPOSITORY, place)) : [resolve(given)]
  return places.flatMap(place => [join(place, IN_CHECKOUT), place]).find(hasYaml)
}

export const WHERE_TO_GET_THEM = `Placement's gabbi files were not found. Get them with
  git clone https://opendev.org/openstack/placement ${resolve(REPOSITORY, '../placement')}
  git -C ${resolve(REPOSITORY, '../placement')} checkout 7ad9ef07
or name a folder with --gabbits DIR or HOLDFAST_GABBITS.`

export function readGabbits(folder: string, only: string[], exclude: string[]): Gabbit[] {
  return readdirSync(folder)
    .filter(file => file.endsWith('.yaml'))
    .sort()
    .map(file => ({ name: basename(file, '.yaml'), path: join(folder, file) }))
    .filter(({ name }) => (only.length === 0 || matches(name, only)) && !matches(name, exclude))
    .map(file => ({ ...file, ...contents(file.path) }))
}

function matches(name: string, globs: string[]): boolean {
  return globs.some(glob => matchesGlob(name, glob.replace(/\.yaml$/, '')))
}

function contents(path: string): { profile: Profile; tests: string[] } {
  const suite: { fixtures?: string[]; tests: { name: string }[] } = parse(readFileSync(path, 'utf8'))
  const profile = suite.fixtures?.map(name => PROFILES[name]).find(found => found !== undefined)
  return { profile: profile ?? 'default', tests: suite.tests.map(test => test.name) }
}

function hasYaml(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some(file => file.endsWith('.yaml'))
}

// The docs are true: every command in them runs as written, what they show is what comes, and what they name exists.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { SETTINGS } from '../src/config/settings.ts'
import { unspoken, wrongWords } from './docs/command-tree.ts'
import { follow, howToRun, type World } from './docs/follow.ts'
import { wrongLinks } from './docs/links.ts'
import { allPages, type Page, ROOT } from './docs/pages.ts'
import { wrongExcerpts, wrongPrograms } from './docs/typescript.ts'
import { type Keystone, keystoneMissing, startKeystone } from './support/keystone.ts'
import { sharedPostgres } from './support/postgres.ts'

/** Blocks that no test runs, by the page and the line that they begin with. */
const NOT_RUN = [
  'README.md: npm ci && npm test',
  'conformance/README.md: git clone https://opendev.org/openstack/placement ../placement',
  String.raw`conformance/README.md: printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d`,
  'docs/API.md: npx openapi-typescript docs/openapi/baremetal.json -o baremetal.d.ts',
  'docs/DASHBOARD.md: npm run build:web',
  'docs/DEPLOYING.md: npm pack',
  `docs/DEPLOYING.md: psql -c "create role holdfast login password 'secret'" -c "create database holdfast owner holdfast encoding UTF8 template template0"`,
  'docs/DEPLOYING.md: psql -h db2 -U postgres -c "select pg_promote()"',
  'docs/DEPLOYING.md: patronictl -c /etc/patroni/config.yml list',
  'docs/DEPLOYING.md: sudo -u postgres pgbackrest --stanza=holdfast stanza-create',
  'docs/DEPLOYING.md: sudo -u postgres pgbackrest --stanza=holdfast --delta --type=time --target="2026-11-16 22:00:00+00" --target-action=promote restore',
  'docs/DEPLOYING.md: npm install --prefix /opt/holdfast ./holdfast-0.1.0.tgz',
  'docs/DEPLOYING.md: useradd --system --home-dir /var/lib/holdfast holdfast',
  'docs/DEPLOYING.md: docker build -f deploy/Dockerfile -t holdfast .',
  'docs/DEPLOYING.md: cd deploy && mkdir -p config && npx holdfast user add admin --project ops --role admin --users config/users.yaml',
  'docs/DEPLOYING.md: kubectl apply -k deploy/kubernetes/example',
  'docs/LIBRARY.md: npm pack ./packages/client',
  'docs/OPERATING.md: pg_dump -Fc -d postgres://holdfast:secret@db/holdfast -f holdfast.dump',
  'docs/PERFORMANCE.md: npm run bench -- claims',
  'docs/RELIABILITY.md: npm run failover -- --times 20',
  'docs/RELIABILITY.md: npm run soak -- --minutes 30',
  'docs/SCALING.md: npm run bench -- nova',
  // test/simulator.test.ts runs the command.
  'docs/SIMULATOR.md: npm run simulate -- --seed 7',
  'docs/SIMULATOR.md: npm run simulate -- --store sqlite --mix any --faults any --load 3 --seeds 1000',
  'docs/SIMULATOR.md: npm run mutate -- quotas src/metal/expiry.ts --sample 40',
]

/** Languages of blocks; commands go by one name, so that none is overlooked. */
const LANGUAGES = ['sh', 'text', 'json', 'yaml', 'ts', 'sql', 'ini', 'groovy', '']

const COMMAND = /^(\$ |bin\/|(holdfast|npm|npx|node|curl|git|docker|kubectl|openstack|baremetal|psql|sqlite3) )/m

/** Programs that pages use and machines may lack, with the Debian package that has them. */
const PACKAGES: Record<string, string> = {
  openstack: 'python3-openstackclient',
  baremetal: 'python3-ironicclient',
  blazar: 'python3-blazarclient',
  curl: 'curl',
  openssl: 'openssl',
  sqlite3: 'sqlite3',
  script: 'bsdutils',
}

/** As the reader has it: `npm run` has put the repository's own programs before the machine's. */
const PATH = process.env['PATH']!.split(delimiter)
  .filter(folder => !folder.includes('node_modules'))
  .join(delimiter)

const pages = allPages()
const shellBlocks = pages.flatMap(page =>
  page.blocks.filter(({ language }) => language === 'sh').map(block => ({ page, block, how: howToRun(block) })),
)

describe('what pages say', () => {
  test('commands are in blocks of one name, so that all are run', () => {
    const odd = pages.flatMap(({ path, blocks }) =>
      blocks.filter(({ language }) => !LANGUAGES.includes(language)).map(({ line }) => `${path}:${line}`),
    )
    assert.deepEqual(odd, [], `blocks are one of ${LANGUAGES.join(', ')}`)
    const hidden = pages.flatMap(({ path, blocks }) =>
      blocks.filter(({ language, text }) => language === '' && COMMAND.test(text)).map(({ line }) => `${path}:${line}`),
    )
    assert.deepEqual(hidden, [], 'these look like commands')
  })

  test('only what is on the list is not run', t => {
    const left = shellBlocks.filter(({ how }) => how.kind === 'not run')
    const forKeystone = shellBlocks.filter(({ how }) => how.needsKeystone).length
    const without = keystoneMissing ? `, and ${forKeystone} more for lack of a Keystone` : ''
    t.diagnostic(`${shellBlocks.length - left.length} blocks are run, ${left.length} are not${without}`)
    assert.deepEqual(
      left.map(({ page, block }) => `${page.path}: ${block.text.split('\n', 1)[0]}`).sort(),
      NOT_RUN.sort(),
    )
  })

  test('commands and options that are named in passing exist', () => {
    assert.deepEqual(pages.flatMap(wrongWords), [])
  })

  test('every command is spoken of', () => {
    assert.deepEqual(unspoken(pages), [])
  })

  test('every setting has its row', () => {
    const rows = readFileSync(join(ROOT, 'docs/OPERATING.md'), 'utf8').split('\n')
    const missing = Object.values(SETTINGS)
      .map(({ flag }) => flag.split(' ', 1)[0]!)
      .filter(name => {
        const start = `| \`--${name}\` | \`HOLDFAST_${name.replaceAll('-', '_').toUpperCase()}\` |`
        return !rows.some(row => row.startsWith(start))
      })
    assert.deepEqual(missing, [])
  })

  test('links lead somewhere', () => {
    assert.deepEqual(wrongLinks(pages), [])
  })

  test('YAML can be read', () => {
    for (const { path, blocks } of pages) {
      for (const { text, line } of blocks.filter(({ language }) => language === 'yaml')) {
        const errors = parseAllDocuments(text).flatMap(document => document.errors)
        assert.deepEqual(errors, [], `${path}:${line}`)
      }
    }
  })

  test('excerpts of the source are as in the source', () => {
    assert.deepEqual(wrongExcerpts(pages), [])
  })

  test('programs compile', async () => {
    assert.equal(await wrongPrograms(pages), '')
  })
})

describe('every command runs as written', { concurrency: 2 }, () => {
  let folder = ''
  let postgres: Awaited<ReturnType<typeof sharedPostgres>>
  let keystone: Promise<Keystone> | null = null
  const world = (): World => ({
    path: `${folder}${delimiter}${PATH}`,
    createDatabase: () => postgres.createEmpty(),
    keystone: () => (keystoneMissing ? null : (keystone ??= startKeystone())),
  })
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-docs-bin-'))
    postgres = await sharedPostgres()
    writeShims(folder)
  })
  after(async () => {
    await postgres.stop()
    await (await keystone)?.stop()
    rmSync(folder, { recursive: true })
  })

  // The longest first, so that none is left for the end.
  for (const page of pages.toSorted((a, b) => lengthOf(b) - lengthOf(a))) {
    if (lengthOf(page) === 0) continue
    test(page.path, { skip: missingFor(page) }, () => follow(page, world()))
  }
})

/** In lines of shell that are run. */
function lengthOf(page: Page): number {
  const run = shellBlocks.filter(one => one.page === page && one.how.kind !== 'not run')
  return run.reduce((sum, { block, how }) => sum + block.text.split('\n').length * (how.needsKeystone ? 5 : 1), 0)
}

/** Programs of the machine, with what a test needs of them. */
const SHIMS = {
  // It has been done: the packages are those that we run with ourselves.
  npm: '[ "$1" = ci ] && exit 0; exec npm "$@"',
  // By itself it takes a refusal for a success.
  curl: 'case " $* " in *" --fail"*|*" -"[!-]f*|*" -f"*) exec curl "$@" ;; esac; exec curl --fail-with-body "$@"',
}

function writeShims(folder: string): void {
  for (const [name, script] of Object.entries(SHIMS)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nPATH='${PATH}'\n${script}\n`, { mode: 0o755 })
  }
}

function missingFor({ blocks }: Page): string | false {
  const text = blocks
    .filter(({ language }) => language === 'sh')
    .map(block => block.text)
    .join('\n')
  const missing = Object.entries(PACKAGES).filter(
    ([program]) => new RegExp(`\\b${program} `).test(text) && spawnSync('which', [program]).status !== 0,
  )
  return missing.length > 0 && `apt-get install --no-install-recommends ${missing.map(([, name]) => name).join(' ')}`
}

// Those who check the docs are checked: what is wrong in a page is found, and told with its place.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { wrongWords } from './command-tree.ts'
import { commandsIn } from './commands.ts'
import { follow, type World } from './follow.ts'
import { wrongLinks } from './links.ts'
import { type Page, pageIn } from './pages.ts'
import { isAsShown } from './shown.ts'

const page = (...lines: string[]): Page => ({ path: 'page.md', ...pageIn(lines.join('\n')) })

describe('a page', () => {
  test('is blocks with the notes above them, spans, links and anchors', () => {
    const { blocks, spans, links, anchors } = page(
      '# A `title`, with marks',
      'See [there](other.md#x) and `holdfast fsck`.',
      '<!-- run: background -->',
      '```sh',
      'bin/holdfast serve',
      '```',
      '',
      '```text',
      'out',
      '```',
    )
    assert.deepEqual(
      blocks.map(({ line, language, notes, isNext }) => ({ line, language, notes, isNext })),
      [
        { line: 5, language: 'sh', notes: ['run: background'], isNext: false },
        { line: 9, language: 'text', notes: [], isNext: true },
      ],
    )
    assert.deepEqual(spans.at(-1), { line: 2, text: 'holdfast fsck' })
    assert.deepEqual(links, [{ line: 2, text: 'other.md#x' }])
    assert.deepEqual([...anchors], ['a-title-with-marks'])
  })

  test('is commands, one by one, however many lines they have', () => {
    const text = ['# first', 'one \\', '  two', 'for x in 1 2; do', '  echo $x', 'done', 'cat <<END', 'it', 'END'].join(
      '\n',
    )
    assert.deepEqual(
      commandsIn({ line: 10, text }).map(({ line, text }) => [line, text.split('\n').length]),
      [
        [11, 2],
        [13, 3],
        [16, 3],
      ],
    )
  })

  test('names no command, option or page that is not there', () => {
    const wrong = page(
      '`holdfast node frob`, `holdfast node list --frob`, `--frob`, `holdfast node list --trait A -f json`',
    )
    assert.deepEqual(
      wrongWords(wrong).map(one => one.replace(/.*: /, '')),
      ['there is no command node frob', 'node list has no option --frob', 'no command has the option --frob'],
    )
    const links = page('# here', '[a](#here) [b](#there) [c](no.md) [d](https://example.com/)')
    assert.deepEqual(wrongLinks([links]), [
      'page.md:2: #there: there is no such heading',
      'page.md:2: no.md: there is no such file',
    ])
  })
})

test('what is shown may leave out, and has other ids and times, but is what was printed', () => {
  const printed = 'uuid   4a623677-8007-4a70-9c9f-afb02a2a84c2\nat     2026-11-15T12:35:28+00:00\nstate  active\n'
  const isShown = (text: string) => isAsShown(text, printed, 'text')
  assert.ok(isShown('uuid 00000000-0000-0000-0000-000000000000\nat 2030-01-01T00:00:00+00:00\nstate active'))
  assert.ok(isShown('uuid …\nstate active'))
  assert.ok(!isShown('uuid …\nstate error'))
  assert.ok(!isShown('state active'), 'what is left out is marked')
  assert.ok(isAsShown('{"a": [1, …], "b": {"c": "x y"}}', '{"a":[1,2,3],"b":{"c":"x y"}}', 'json'))
  assert.ok(!isAsShown('{"a": [1, …]}', '{"a":[2,3]}', 'json'))
})

describe('following a page', { concurrency: 2 }, () => {
  const world: World = {
    path: process.env['PATH']!,
    createDatabase: () => Promise.reject(new Error('no page here has one')),
    keystone: () => null,
  }
  const complains = (said: RegExp, ...lines: string[]) => assert.rejects(follow(page(...lines), world), said)

  test('ends at the first command that fails, with its place and what it printed', () =>
    complains(
      /^Error: page\.md:4: bin\/holdfast node show nobody\nexited with 3\nholdfast: .*nobody/,
      '```sh',
      'name=somebody; echo $name',
      'test $name = somebody',
      'bin/holdfast node show nobody',
      '```',
    ))

  test('ends at output that is not as shown', () =>
    complains(
      /page\.md:5: what is shown isn't what was printed:\ntwo/,
      '```sh',
      'echo two',
      '```',
      '```text',
      'three',
      '```',
    ))

  test('ends at a server that does not stay, and at a failure that does not come', async () => {
    const wrong = ['<!-- run: background -->', '```sh', 'bin/holdfast serve --port none', '```']
    await complains(/page\.md:3: .*--port none\nexited with 1; it should stay\nholdfast: .*port/, ...wrong)
    await complains(
      /page\.md:3: true\nexited with 0; it should exit with 4/,
      '<!-- run: fails with 4 -->',
      '```sh',
      'true',
      '```',
    )
  })

  test('knows files, a note on each kind of block, and no other notes', async () => {
    const file = ['<!-- file: a/b.txt -->', '```yaml', 'x: 8780', '```', '```sh', 'grep -L 8780 a/b.txt', '```']
    await follow(page(...file), world)
    await complains(/nobody knows what 'run: backwards'/, '<!-- run: backwards -->', '```sh', 'true', '```')
  })
})

// While subtrees move, grow and shrink, every answer shows whole trees: each as it was at some moment.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { chance, clients } from '../races/clients.ts'
import { expectStatus, type Placement } from '../support/placement.ts'
import { rounds } from '../support/rounds.ts'
import { eachRace } from '../support/stores.ts'
import { candidates, type Candidates, everywhereKnown, move, newClass, setTraits } from './questions.ts'

const MOVES = rounds(12, 30)
/** A slow machine moves on until enough was seen. */
const MOVES_MAX = 300
const ANSWERS = 20
// Askers and writers stop with the mover; this only bounds them if it doesn't come to an end.
const TURNS_MAX = 4_000

eachRace('trees that move while they are searched', api => {
  test('are always whole', async () => {
    const name = await newClass(api)
    const grove = await newGrove(api, name)
    await everywhereKnown(api, ...grove.members)
    const state = { moving: true }
    let answers = 0
    const places = new Set<string | null>()
    const whileMoving = async (act: (turn: number) => Promise<unknown>) => {
      for (let turn = 0; state.moving && turn < TURNS_MAX; turn++) await act(turn)
    }
    const mover = async () => {
      const targets = [grove.left, grove.right, null]
      const isEnough = () => answers >= ANSWERS && places.size === targets.length
      for (let count = 0; count < MOVES || (count < MOVES_MAX && !isEnough()); count++) {
        expectStatus(await move(api, grove.top, targets[count % targets.length]!), 200)
      }
      state.moving = false
    }
    const ask = async () => {
      const found = await candidates(api, `resources=${name}:1`)
      places.add(expectWholeTrees(found, grove))
      answers++
    }
    const below = chance(5)
    await clients(10, async index => {
      if (index === 0) await mover()
      else if (index < 5) await whileMoving(ask)
      else if (index < 9) await whileMoving(() => touch(api, name, grove.members[below(grove.members.length)]!))
      else await whileMoving(() => growAndShrink(api, name, grove.leaf))
    })
    assert.ok(answers >= ANSWERS, `only ${answers} answers`)
    assert.deepEqual(places, new Set([grove.left, grove.right, grove.top]), 'the tree was seen at each of its places')
    await api.fsck()
  })

  test('never lend a provider to a candidate of another tree', async () => {
    const [one, two, three] = [await newClass(api), await newClass(api), await newClass(api)]
    const [left, right] = [await api.provider({ [one]: 100 }), await api.provider({ [one]: 100 })]
    const middle = await api.provider({ [two]: 100 }, { parent: left })
    const bottom = await api.provider({ [three]: 100 }, { parent: middle })
    await everywhereKnown(api, left, right, middle, bottom)
    const query = `resources=${one}:1&resources_M=${two}:1&resources_B=${three}:1&group_policy=none&same_subtree=_M,_B`
    const state = { moving: true }
    await clients(6, async index => {
      if (index === 0) {
        for (let count = 0; count < MOVES; count++) expectStatus(await move(api, middle, count % 2 ? left : right), 200)
        state.moving = false
        return
      }
      for (let turn = 0; state.moving && turn < TURNS_MAX; turn++) {
        if (index === 1) {
          await touch(api, three, bottom)
          continue
        }
        const { requests, summaries } = await candidates(api, query)
        assert.equal(requests.length, 1, 'the parts are always in one tree, whichever it is')
        const members = Object.keys(requests[0]!.allocations)
        assert.deepEqual(
          members.map(uuid => summaries[uuid]!.root_provider_uuid),
          members.map(() => summaries[middle]!.parent_provider_uuid),
        )
      }
    })
  })
})

interface Grove {
  left: string
  right: string
  /** The root of the subtree that moves, and what never leaves it: the leaf below the inner, the other beside it. */
  top: string
  inner: string
  other: string
  leaf: string
  members: string[]
}

async function newGrove(api: Placement, name: string): Promise<Grove> {
  const room = { [name]: 100_000 }
  const [left, right, top] = [await api.provider(room), await api.provider(room), await api.provider(room)]
  const inner = await api.provider(room, { parent: top })
  const other = await api.provider({}, { parent: top })
  const leaf = await api.provider(room, { parent: inner })
  return { left, right, top, inner, other, leaf, members: [left, right, top, inner, other, leaf] }
}

/** Makes sure that the answer is one that some moment could have given; answers the root of what moves. */
function expectWholeTrees({ summaries }: Candidates, grove: Grove): string {
  const place = (uuid: string) => {
    const { parent_provider_uuid: parent, root_provider_uuid: root } = summaries[uuid] ?? {}
    return { parent, root }
  }
  const text = JSON.stringify(summaries)
  const root = summaries[grove.top]?.root_provider_uuid
  assert.ok(root === grove.left || root === grove.right || root === grove.top, text)
  const expected = {
    [grove.left]: { parent: null, root: grove.left },
    [grove.right]: { parent: null, root: grove.right },
    [grove.top]: { parent: root === grove.top ? null : root, root },
    [grove.inner]: { parent: grove.top, root },
    [grove.other]: { parent: grove.top, root },
    [grove.leaf]: { parent: grove.inner, root },
  }
  for (const [uuid, where] of Object.entries(expected)) assert.deepEqual(place(uuid), where, text)
  // Whatever grows below the leaf hangs on something that is there too.
  for (const [uuid, summary] of Object.entries(summaries)) {
    if (uuid in expected) continue
    assert.equal(summary.root_provider_uuid, root, text)
    assert.ok(summaries[summary.parent_provider_uuid!], text)
  }
  return root
}

/** A change of one provider that doesn't move it. */
async function touch(api: Placement, name: string, provider: string): Promise<void> {
  const consumer = randomUUID()
  // 409: it has no such inventory, or the trait's generation was overtaken.
  const answer = await api.claim(consumer, { [provider]: { [name]: 1 } })
  if (expectStatus(answer, 204, 409).status === 204) expectStatus(await api.del(`/allocations/${consumer}`), 204)
  const traits = { traits: ['HW_CPU_X86_AVX2'], resource_provider_generation: await api.generation(provider) }
  expectStatus(await api.put(`/resource_providers/${provider}/traits`, traits), 200, 409)
  expectStatus(await api.del(`/resource_providers/${provider}/traits`), 204)
}

async function growAndShrink(api: Placement, name: string, leaf: string): Promise<void> {
  const child = await api.provider({ [name]: 1 }, { parent: leaf })
  const grandchild = await api.provider({ [name]: 1 }, { parent: child })
  await setTraits(api, grandchild, 'HW_CPU_X86_VMX')
  expectStatus(await api.del(`/resource_providers/${grandchild}`), 204)
  expectStatus(await api.del(`/resource_providers/${child}`), 204)
}

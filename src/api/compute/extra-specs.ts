// /flavors/{id}/os-extra_specs
import { findFlavor, lockOwnFlavor, setExtraSpecs } from '../../compute/flavors.ts'
import { wrongSpec } from '../../compute/wishes.ts'
import { limits } from '../../shared/limits.ts'
import { problem } from '../../problems/problem.ts'
import type { Operation } from '../operation.ts'
import { check } from '../schema.ts'
import { byName, Text } from '../shapes.ts'
import { asTexts, closed, texts } from './bodies.ts'
import { type Answer, type ComputeRequest, seesFlavorsOf } from './request.ts'
import { Type } from '../../shared/type.ts'

const Specs = texts(limits.extraSpecsPerFlavorMax)
const specsBody = check(Type.Object({ extra_specs: Specs }, closed))
const specBody = check(Specs)

const ShownSpecs = Type.Object({ extra_specs: byName(Text) })

listExtraSpecs.operation = {
  summary: 'List the extra specs of a flavor',
  answers: { 200: ShownSpecs },
} satisfies Operation

export async function listExtraSpecs(request: ComputeRequest): Promise<Answer> {
  const { extra_specs } = await visibleFlavor(request)
  return { status: 200, body: { extra_specs } }
}

showExtraSpec.operation = {
  summary: 'Show an extra spec of a flavor',
  answers: { 200: byName(Text) },
} satisfies Operation

export async function showExtraSpec(request: ComputeRequest): Promise<Answer> {
  const key = request.param('key')
  const { id, extra_specs } = await visibleFlavor(request)
  if (!Object.hasOwn(extra_specs, key)) throw problem('extra_spec_not_found', { flavor: id, key })
  return { status: 200, body: { [key]: extra_specs[key] } }
}

const visibleFlavor = (request: ComputeRequest) =>
  request.context.store.read(() => findFlavor(request.param('id'), seesFlavorsOf(request)))

postExtraSpecs.operation = {
  summary: 'Add extra specs to a flavor',
  body: [specsBody],
  answers: { 200: ShownSpecs },
} satisfies Operation

export async function postExtraSpecs(request: ComputeRequest): Promise<Answer> {
  const added = asTexts(request.body(specsBody).extra_specs)
  await change(request, specs => ({ ...specs, ...added }))
  return { status: 200, body: { extra_specs: added } }
}

putExtraSpec.operation = {
  summary: 'Set an extra spec of a flavor',
  body: [specBody],
  answers: { 200: byName(Text) },
} satisfies Operation

export async function putExtraSpec(request: ComputeRequest): Promise<Answer> {
  const key = request.param('key')
  const given = asTexts(request.body(specBody))
  if (Object.keys(given).length !== 1 || !Object.hasOwn(given, key)) {
    throw problem('compute_invalid', { reason: `The body must hold the extra spec that the path names: ${key}` })
  }
  await change(request, specs => ({ ...specs, ...given }))
  return { status: 200, body: given }
}

deleteExtraSpec.operation = { summary: 'Take an extra spec from a flavor', answers: { 200: null } } satisfies Operation

export async function deleteExtraSpec(request: ComputeRequest): Promise<Answer> {
  const key = request.param('key')
  await change(request, (specs, flavor) => {
    const { [key]: gone, ...rest } = specs
    if (gone === undefined) throw problem('extra_spec_not_found', { flavor, key })
    return rest
  })
  return { status: 200 }
}

type Specs = Readonly<Record<string, string>>

async function change(request: ComputeRequest, edit: (specs: Specs, flavor: string) => Specs): Promise<void> {
  await request.context.store.write(function* () {
    const { id, extra_specs } = yield* lockOwnFlavor(request.param('id'))
    const after = edit(extra_specs, id)
    for (const [key, value] of Object.entries(after)) {
      const wrong = wrongSpec(key, value)
      if (wrong !== null && extra_specs[key] !== value) {
        throw problem('compute_invalid', { reason: `Validation failed; extra spec '${key}': ${wrong}` })
      }
    }
    if (Object.keys(after).length > limits.extraSpecsPerFlavorMax) {
      throw problem('compute_invalid', { reason: `A flavor has at most ${limits.extraSpecsPerFlavorMax} extra specs.` })
    }
    yield* setExtraSpecs(id, after)
  })
}

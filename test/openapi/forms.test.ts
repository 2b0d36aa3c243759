// Where bodies are read by hand, what reads them and what the document says of them are of one mind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { members, PATCH, type Members } from '../../src/api/baremetal/collection.ts'
import { NEW_NODE } from '../../src/api/baremetal/node-bodies.ts'
import { APIS } from '../../src/api/documents.ts'
import { AUTH, proofIn, scopeIn } from '../../src/api/identity/auth-body.ts'
import type { Form } from '../../src/api/operation.ts'
import { LEASE_CHANGE, NEW_LEASE } from '../../src/api/reservation/lease-forms.ts'
import { leaseChangeOf, newLeaseOf } from '../../src/api/reservation/lease-bodies.ts'
import { checkAttributes, CREATABLE } from '../../src/metal/nodes/attributes.ts'
import type { Json } from '../../src/metal/drivers/port.ts'
import { parsePatches } from '../../src/metal/json-patch.ts'
import { Problem } from '../../src/problems/problem.ts'
import { allowed, refused } from './from-schema.ts'

const RUNS = Number(process.env['HOLDFAST_RUNS'] ?? 300)
const NOW = Date.UTC(2030, 0, 1, 10)

interface Reading {
  form: Form
  read: (value: unknown) => unknown
  /** What no schema can say: rules between members, and words that mean no real date. */
  beyond?: RegExp
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
/** As requests do before anything is read. */
const objectOf = (value: unknown): Json => {
  if (!isObject(value)) throw new TypeError('not an object')
  return value
}

const newLease = (given: Json) => {
  const who = { project: 'p', user: 'u' }
  try {
    return newLeaseOf(given, NOW, who)
  } catch (error) {
    // Each of the dates is one, but not in this order.
    if (!(error instanceof Problem) || error.kind !== 'lease_invalid') throw error
    return newLeaseOf({ ...given, start_date: 'now', end_date: '2031-01-01 00:00' }, NOW, who)
  }
}

const READINGS: Record<string, Reading> = {
  'a new lease': {
    form: NEW_LEASE,
    // As who may say whose it is: from others that is ignored, whatever it is.
    read: value => newLease(objectOf(value)),
    beyond: /must not be more than max|is an invalid date|must be a whole number from/,
  },
  'a change of a lease': {
    form: LEASE_CHANGE,
    read: value => leaseChangeOf(objectOf(value), NOW),
    beyond: /is an invalid date|must be a whole number from|is named twice/,
  },
  'a JSON patch': { form: PATCH, read: parsePatches, beyond: /need a value/ },
  'a new node': {
    form: NEW_NODE,
    read: value => {
      for (const name of Object.keys(objectOf(value))) if (!CREATABLE.has(name)) throw new TypeError('unknown')
      checkAttributes(objectOf(value))
    },
    beyond: /is an invalid name/,
  },
  'who wants a token': {
    form: AUTH,
    read: value => {
      const auth = objectOf(objectOf(value)['auth'])
      return [proofIn(auth), scopeIn(auth)]
    },
    beyond: /scope must be one of/,
  },
}

/** The bodies of the small resources, whose members are checked one by one. */
for (const { method, path, operation } of [...APIS['baremetal']!.routes, ...APIS['operator']!.routes]) {
  const form = operation.body?.[0] as Members | undefined
  if (!form || !('checks' in form)) continue
  const required = (form.schema as { required?: string[] }).required ?? []
  READINGS[`${method} ${path}`] = {
    form,
    read: value => {
      const found = members(objectOf(value), form)
      for (const name of required)
        if ([found[name] ?? []].flat().length === 0) throw new TypeError(`${name} is missing`)
    },
    beyond: /for (name|node_uuid)[,:]|is there twice/,
  }
}

for (const [name, { form, read, beyond }] of Object.entries(READINGS)) {
  void test(`${name}: what the document refuses is refused`, () => {
    fc.assert(
      fc.property(refused(form.schema), value => {
        assert.throws(() => read(value))
      }),
      { numRuns: RUNS },
    )
  })

  void test(`${name}: what the document allows is taken`, () => {
    let taken = 0
    fc.assert(
      fc.property(allowed(form.schema), value => {
        try {
          read(value)
          taken++
        } catch (error) {
          if (!(error instanceof Problem) || !beyond?.test(error.message)) throw error
        }
      }),
      { numRuns: RUNS },
    )
    assert.ok(taken > RUNS / 50, `of ${RUNS} only ${taken} were taken`)
  })
}

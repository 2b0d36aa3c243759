// From the words of a command line to what is booked.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { wantedIn, withTerms } from './lease-terms.ts'

const NOW = Date.UTC(2030, 0, 1, 10)

function booked(...words: string[]): unknown[] {
  const command = withTerms(new Command().exitOverride().configureOutput({ writeErr: () => {} }))
  return wantedIn(command.parse(['--for', '2h', ...words], { from: 'user' }).opts(), NOW).reservations as unknown[]
}

void test('instances share a host, have one each, or go anywhere', () => {
  const size = ['--instances', '4', '--vcpus', '1', '--memory', '512']
  const instances = { resource_type: 'virtual:instance', vcpus: 1, memory_mb: 512, disk_gb: 0, amount: 4 }
  assert.deepEqual(booked(...size), [instances])
  assert.deepEqual(booked(...size, '--affinity', 'true'), [{ ...instances, affinity: true }])
  assert.deepEqual(booked(...size, '--affinity', 'False'), [{ ...instances, affinity: false }])
  assert.deepEqual(booked(...size, '--affinity', 'none'), [{ ...instances, affinity: null }])
  const flavored = booked('--instances', '4', '--flavor', 'm1', '--affinity', 'false')
  assert.deepEqual(flavored, [{ resource_type: 'flavor:instance', flavor_id: 'm1', amount: 4, affinity: false }])
})

void test('another word is refused with those that are right, and so is an affinity of nothing', () => {
  assert.throws(() => booked('--instances', '4', '--affinity', 'anti'), /'anti' is not true .*, false .* or none/)
  assert.throws(() => booked('--nodes', 'gpu:3', '--affinity', 'true'), /say with --instances how many/)
})

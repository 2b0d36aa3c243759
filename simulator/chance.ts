// Choices from a seed. Each stream has its own numbers, by its name: what one of them draws changes no other.
import { createHash } from 'node:crypto'
import { type Random, seeded } from '../src/clock/chance.ts'
import type { Chance } from './port.ts'

export class Stream implements Chance {
  readonly #name: string
  readonly #random: Random

  constructor(seed: number | string, name = '') {
    this.#name = `${seed}/${name}`
    this.#random = seeded(createHash('sha256').update(this.#name).digest().readUInt32LE())
  }

  stream(name: string): Stream {
    return new Stream(this.#name, name)
  }

  /** From 0 up to, not including, 1. */
  float(): number {
    return this.#random()
  }

  between(least: number, most: number): number {
    return least + this.#random() * (most - least)
  }

  int(below: number): number {
    return Math.floor(this.#random() * below)
  }

  pick<T>(from: readonly T[]): T {
    return from[this.int(from.length)]!
  }

  happens(probability: number): boolean {
    return this.#random() < probability
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.int(256)))
  }

  uuid(): string {
    const bytes = this.bytes(16)
    bytes[6] = (bytes[6]! & 0x0f) | 0x40
    bytes[8] = (bytes[8]! & 0x3f) | 0x80
    const hex = bytes.toString('hex')
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
  }
}

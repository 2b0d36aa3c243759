// What a seed runs if nothing is named: N seeds in a row have all mixes and all faults, each with each.
import { AIMED as AIMED_FAULTS, MIXES as FAULTS } from './faults.ts'
import { AIMED, MIXES } from './mixes.ts'

export const ANY = 'any'
const mixes = Object.keys(MIXES)
const faults = Object.keys(FAULTS)

export const isMix = (name: string): boolean => name === ANY || mixes.includes(name) || Object.hasOwn(AIMED, name)
export const areFaults = (name: string): boolean =>
  name === ANY || faults.includes(name) || Object.hasOwn(AIMED_FAULTS, name)

/** The mix and the faults of a seed, where `any` is wished for. */
export function chosen(seed: number, wished: { mix: string; faults: string }): { mix: string; faults: string } {
  const round = Math.floor(seed / mixes.length)
  return {
    mix: wished.mix === ANY ? mixes[seed % mixes.length]! : wished.mix,
    faults: wished.faults === ANY ? faults[round % faults.length]! : wished.faults,
  }
}

// What goes wrong on purpose on any ground.
import type { Stream } from './chance.ts'
import { later, type Scene } from './scene.ts'

export const COMMON = {
  pause(place: Scene, chance: Stream) {
    const process = chance.pick(place.processes)
    const { owner } = process
    const ms = chance.between(200, 14_000)
    owner.isPaused = true
    later(place, ms, () => place.world.resume(owner))
    return `${process.name} is paused for ${Math.round(ms)} ms`
  },
  machines(place: Scene, chance: Stream) {
    const ms = chance.between(1_000, 15_000)
    Object.assign(place.machines, { failures: chance.between(0, 0.5), hangs: chance.between(0, 0.3) })
    later(place, ms, () => Object.assign(place.machines, { failures: 0, hangs: 0 }))
    return `machines fail and hang for ${Math.round(ms)} ms`
  },
}

// What a hook is told: the machine, and who has it.
import { SECRET_KEY } from '../../../shared/secret-keys.ts'
import { isObject } from '../../../shared/is-object.ts'
import type { Holder, Json, Machine, Task } from '../port.ts'
import type { HookName } from './hooks.ts'

/** What users and projects are called; null where that isn't known. */
export interface Names {
  user: string | null
  project: string | null
}

interface Occasion {
  hook: HookName
  task: Pick<Task, 'attempt' | 'args' | 'holder'>
  /** How often the hook was asked in this attempt, with this time. */
  asked: number
  names: Names
  /** For the hook of power. */
  power?: string
}

export function letterFor({ hook, task, asked, names, power }: Occasion, machine: Machine): Json {
  const { uuid, name, resourceClass, properties, extra, driverInfo, instanceUuid, instanceInfo } = machine
  return {
    hook,
    attempt: task.attempt,
    asked,
    ...(power !== undefined && { power }),
    node: {
      uuid,
      name,
      address: driverInfo['address'] ?? name,
      resource_class: resourceClass,
      properties,
      extra,
      instance_uuid: instanceUuid,
      instance_info: withoutSecrets(instanceInfo),
    },
    holder: task.holder && holderIn(task.holder, names),
    ...(hook === 'clean' && { clean_steps: task.args['clean_steps'] ?? [] }),
  }
}

const holderIn = ({ project, user, allocation }: Holder, names: Names) => ({
  project: { id: project, name: names.project ?? project },
  user: { id: user, name: names.user ?? user },
  allocation,
})

/** A config drive is for the machine alone, and has passwords in it. */
const isSecret = (key: string) => key === 'configdrive' || SECRET_KEY.test(key)

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key]) => !isSecret(key))
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutSecrets(inner)]))
}

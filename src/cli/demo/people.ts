// The people of the demo, and the names of their work.
import type { Role } from '../../identity/roles.ts'

export type ProjectName = 'vision' | 'nlp' | 'ops'

export interface Person {
  name: string
  project: ProjectName
  role: Role
  /** Names for their allocations. */
  work: readonly string[]
}

export const PEOPLE: readonly Person[] = [
  {
    name: 'alice',
    project: 'vision',
    role: 'member',
    work: ['train-resnet', 'segment-video', 'imagenet-eval', 'detect-lanes'],
  },
  {
    name: 'bob',
    project: 'nlp',
    role: 'member',
    work: ['bert-finetune', 'tokenize-corpus', 'translate-eval', 'embed-wiki'],
  },
  { name: 'carol', project: 'ops', role: 'admin', work: ['burn-in', 'ci-runner', 'restore-test', 'kernel-soak'] },
]

export const personIn = (project: ProjectName): Person => PEOPLE.find(person => person.project === project)!

// The states of a node, as its row has them. The transitions between them are in metal/nodes/states.ts.

export type Stable =
  | 'enroll'
  | 'manageable'
  | 'available'
  | 'active'
  | 'rescue'
  | 'error'
  | 'clean failed'
  | 'inspect failed'
  | 'adopt failed'
  | 'deploy failed'
  | 'rescue failed'
  | 'unrescue failed'

export type Busy =
  | 'verifying'
  | 'cleaning'
  | 'inspecting'
  | 'adopting'
  | 'deploying'
  | 'deleting'
  | 'rescuing'
  | 'unrescuing'

export type Waiting = 'clean wait' | 'inspect wait' | 'wait call-back' | 'rescue wait'

export type State = Stable | Busy | Waiting

export type PowerState = 'power on' | 'power off'

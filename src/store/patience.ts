// How long a process waits for its database.
import { limits } from '../shared/limits.ts'

/** Time limits; tests set shorter ones. */
export interface Patience {
  connectMs: number
  silenceMs: number
  lockMs: number
  closeMs: number
  /** How often all hosts are looked at. */
  surveyMs: number
}

export const PATIENCE: Patience = {
  connectMs: limits.connectMsMax,
  silenceMs: limits.silenceMs,
  lockMs: limits.lockWaitMs,
  closeMs: limits.closeMsMax,
  surveyMs: limits.hostSurveyMs,
}

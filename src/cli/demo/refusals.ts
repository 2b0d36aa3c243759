// Ignores refusals that are expected.
import { ApiError } from '../../client/index.ts'

export const statusOf = (error: unknown) => (error instanceof ApiError ? error.status : null)

export async function unless(status: number, act: Promise<unknown>): Promise<void> {
  try {
    await act
  } catch (error) {
    if (statusOf(error) !== status) throw error
  }
}

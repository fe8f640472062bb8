import { refuse, type Reason } from '@netlet/contract'
import type { Result } from '../result.ts'
import { sqlState, violatedConstraint } from './client.ts'

/**
 * Runs a command whose insert may meet a row that is already there, and answers with the refusal of the unique
 * constraint that said so. Wrap the whole transaction: it is over once a constraint has spoken.
 */
export async function refuseTaken<T>(
  constraints: Readonly<Record<string, Reason>>,
  command: () => Promise<Result<T>>
): Promise<Result<T>> {
  try {
    return await command()
  } catch (error) {
    const reason = sqlState(error) === '23505' ? constraints[violatedConstraint(error) ?? ''] : undefined
    if (!reason) throw error
    return refuse(reason)
  }
}

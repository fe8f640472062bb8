import type { Refusal } from '@netlet/contract'
import type { Result } from '../result.ts'
import type { Executor, Transaction } from './client.ts'

/** Carries a refusal out of a transaction: drizzle rolls back on nothing but a throw. */
class Refused extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.reason)
    this.refusal = refusal
  }
}

/** Runs a command in one transaction; a refusal undoes everything that it did before, as an exception does. */
export async function transact<T>(db: Executor, command: (tx: Transaction) => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await db.transaction(async tx => {
      const result = await command(tx)
      if (!result.ok) throw new Refused(result)
      return result
    })
  } catch (error) {
    if (error instanceof Refused) return error.refusal
    throw error
  }
}

import { SYSTEM } from './actor.ts'
import { command, type Unit } from './command.ts'
import type { AppContext } from './context.ts'

/**
 * Repeats a write, each time in its own command, until a batch is not full.
 * @param size rows of a full batch
 * @param step processes one batch and returns its number of rows
 * @returns the number of rows of all batches
 */
export async function inBatches(
  ctx: Pick<AppContext, 'db' | 'jobs' | 'now' | 'changes'>,
  size: number,
  step: (unit: Unit) => Promise<number>
): Promise<number> {
  for (let total = 0; ;) {
    const some = await command(ctx, SYSTEM, step)
    total += some
    if (some < size) return total
  }
}

import { SYSTEM } from './actor.ts'
import { command, type Unit } from './command.ts'
import type { AppContext } from './context.ts'

/**
 * Repeats a write, each time in a command of its own, until it finds less than a full batch.
 * @param size how many rows a batch has at most
 * @param step works on one batch. @returns how many rows it had
 * @returns how many there were in all
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

import { SYSTEM } from './actor.ts'
import { byQueueAndKey, type PendingJob, type Unit } from './command.ts'
import type { Transaction } from './db/client.ts'
import type { Sender } from './jobs.ts'

/** Bridge: runs what takes a unit within a transaction of the old kind. Goes with the last caller. */
export async function withUnit<T>(tx: unknown, jobs: Sender, work: (unit: Unit) => Promise<T>): Promise<T> {
  const pending: PendingJob[] = []
  const result = await work({
    tx: tx as Transaction,
    now: new Date(),
    by: SYSTEM,
    audit: () => undefined,
    jobs: { send: (queue, data, options = {}) => void pending.push({ queue, data, options }) },
    publish: () => undefined
  })
  for (const { queue, data, options } of pending.toSorted(byQueueAndKey))
    await jobs.send(tx as Transaction, queue, data, options)
  return result
}

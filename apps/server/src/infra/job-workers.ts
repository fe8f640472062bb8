import type { PgBoss } from 'pg-boss'
import type { Log } from './log.ts'

/** How long the extra workers of a burst wait for the next one (ms). */
const LINGER_MS = 2_000

export type WorkersOptions = {
  /** Maximum number of jobs at once. */
  most: number
  minPriority?: number
  perGroup?: 1 | undefined
  pollSeconds: number
}

/**
 * Works on a queue with up to `most` jobs at once. Only one worker idles: a notification wakes all, and each costs a
 * query. A worker asks for its next job when one ends (`notifyWorker`), so that a burst has no pauses. Batches would
 * save statements, but all jobs of a batch wait for its slowest one.
 */
export async function startWorkers(
  boss: PgBoss,
  log: Log,
  queueName: string,
  handler: (data: object, jobId: string) => Promise<void>,
  { most, minPriority, perGroup, pollSeconds }: WorkersOptions
): Promise<void> {
  const idle = new Set<string>()
  let workers = 0
  let retiring: NodeJS.Timeout | undefined

  async function add(): Promise<void> {
    workers++
    const id: string = await boss.work<object>(
      queueName,
      {
        pollingIntervalSeconds: pollSeconds,
        notifyPollingIntervalSeconds: pollSeconds,
        ...(minPriority === undefined ? {} : { minPriority }),
        ...(perGroup === undefined ? {} : { localGroupConcurrency: perGroup })
      },
      async ([job]) => {
        const stays = idle.delete(id)
        if (idle.size === 0 && workers < most) await add()
        try {
          if (job) await handler(job.data, job.id)
        } catch (error) {
          log.warn({ err: error, queue: queueName, job: job?.id }, 'job failed, it will be tried again')
          throw error
        } finally {
          if (stays) idle.add(id)
          if (idle.size > 1) retiring ??= setTimeout(retire, LINGER_MS).unref()
          boss.notifyWorker(id)
        }
      }
    )
    idle.add(id)
  }

  /** Stops idle workers until one is left. One that is just taking a job finishes it first, and counts until then. */
  function retire(): void {
    retiring = undefined
    for (const id of [...idle].slice(1)) {
      idle.delete(id)
      void boss.offWork(queueName, { id, wait: true }).then(() => void workers--)
    }
  }

  await add()
}

/**
 * Bulk runs: one thing done to many rows, as a job with progress, a result for each row, and a cancel button. It owns
 * `bulk_runs` and `bulk_rows`, which nobody else writes; it reads whether the administrator who asked still is one.
 * It knows actions by name only: what they do comes as `BulkActions` from where the server and workers are put together.
 */
export { forgetActor } from './forget-actor.ts'
export type { BulkActions, BulkWork, RunInput } from './actions.ts'
export { bulkJobs } from './jobs.ts'
export { bulkQueues } from './queues.ts'
export { bulkRetention } from './retention.ts'
export { bulkRoutes } from './routes.ts'
export { startRunIn } from './start-run.ts'
export { unendedRun } from './unended-run.ts'

/**
 * Bulk runs: one action on many rows, as a job with progress, a result for each row, and a cancel button. It owns
 * `bulk_runs` and `bulk_rows`, and reads whether the administrator still is one. It knows actions by name only; the
 * composition provides their work as `BulkActions`.
 */
export { forgetActor, unendedRun } from './list-runs.ts'
export type { BulkActions, BulkWork, RunInput } from './actions.ts'
export { bulkJobs } from './jobs.ts'
export { bulkQueues } from './queues.ts'
export { bulkRetention } from './retention.ts'
export { bulkRoutes } from './routes.ts'
export { startRunIn } from './start-run.ts'

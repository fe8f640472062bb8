/**
 * Removes what is kept long enough. Each domain declares what of its own grows (`RetentionEntry`); the composition hands
 * all of them in, and one job works on them. It owns `retention_figures`, what the last run found and removed.
 */
export { jobArchive } from './job-archive.ts'
export { retentionJobs } from './jobs.ts'
export { retentionRoutes } from './routes.ts'

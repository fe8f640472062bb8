/**
 * Removes rows whose time is over. Each domain declares its growing rows as `RetentionEntry`; one job works on all. It
 * owns `retention_figures`, the results of the last run.
 */
export { jobArchive } from './job-archive.ts'
export { retentionJobs } from './jobs.ts'
export { retentionRoutes } from './routes.ts'

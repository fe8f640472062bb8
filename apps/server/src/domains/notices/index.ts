/**
 * Notices to operators: of what, when and where (docs/NOTICES.md). It owns notices, notice_sends, notice_channels,
 * notice_rules and refused_tokens. Other domains call `raiseNotice` within a command, or declare a `NoticeFinder` for
 * problems that last. `NoticePorts` provides the operators and the finders.
 */
export {
  type Found,
  MOST_FOUND,
  type NoticeFinder,
  findRefusal,
  recordAcceptance,
  recordRefusal,
  ownFinders,
  raiseNotice,
  raiseNoticeQueue
} from './found.ts'
export { noticeJobs } from './jobs.ts'
export { countUndeliveredNotices } from './list.ts'
export { type NoticePorts, type Operator } from './rules.ts'
export { noticeRetention } from './jobs.ts'
export { noticeRoutes } from './routes.ts'

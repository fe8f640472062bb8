/**
 * Notices to operators: of what, when and where (docs/NOTICES.md). It owns notices, notice_sends, notice_channels,
 * notice_rules and refused_tokens. Other domains call `raiseNotice` within a command, or declare a `NoticeFinder` for
 * problems that last. `NoticePorts` provides the operators and the finders.
 */
export { MOST_FOUND, type Found, type NoticeFinder } from './found.ts'
export { noticeJobs } from './jobs.ts'
export { countUndeliveredNotices } from './list.ts'
export { type NoticePorts, type Operator } from './ports.ts'
export { raiseNotice, raiseNoticeQueue } from './found.ts'
export { findRefusal, noteRefused, noteAccepted } from './refused-tokens.ts'
export { ownFinders } from './refused-tokens.ts'
export { noticeRetention } from './retention.ts'
export { noticeRoutes } from './routes.ts'

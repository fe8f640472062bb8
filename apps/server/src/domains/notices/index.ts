/**
 * Notices to operators: what they are told of, when, and where (docs/NOTICES.md). It owns notices, notice_sends,
 * notice_channels, notice_rules and refused_tokens. Other domains tell of something within their command by `raiseNotice`, and declare how
 * what is the case is found (`NoticeFinder`); this domain compares that with what was told. Who the operators are, and what
 * the finders are, is handed in (`NoticePorts`).
 */
export { MOST_FOUND, type Found, type NoticeFinder } from './found.ts'
export { noticeJobs } from './jobs.ts'
export { countUntold } from './list.ts'
export { type NoticePorts, type Operator } from './ports.ts'
export { raiseNotice, raiseNoticeQueue } from './raise.ts'
export { findRefusal, noteRefused, noteTaken } from './refused-tokens.ts'
export { ownFinders } from './own-finders.ts'
export { noticeRetention } from './retention.ts'
export { noticeRoutes } from './routes.ts'

import type { ServerRow } from './server-row.ts'

/**
 * Whether an agent serves another port than customers are shown, because an older database was restored or the
 * operator's own file on the machine sets it.
 */
export const isWrongPort = ({ proxyPort }: Pick<ServerRow, 'proxyPort'>, theirs: number): boolean =>
  Number.isInteger(theirs) && theirs >= 1 && theirs !== proxyPort

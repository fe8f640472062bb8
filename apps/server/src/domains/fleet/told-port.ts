import type { ServerRow } from './server-row.ts'

/**
 * Does an agent serve another port than customers are shown? After the restore of an older database, or where the operator's own
 * file on its machine sets it.
 */
export const isOtherPort = ({ proxyPort }: Pick<ServerRow, 'proxyPort'>, theirs: number): boolean =>
  Number.isInteger(theirs) && theirs >= 1 && theirs !== proxyPort

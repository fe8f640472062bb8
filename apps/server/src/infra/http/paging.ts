import type { Page } from '@netlet/contract'

/** The reply of a list that is counted exactly. */
export const pageOf = <T>(data: T[], total: number, { limit, offset }: { limit: number; offset: number }): Page<T> => ({
  data,
  total,
  total_exact: true,
  limit,
  offset,
  next: null
})

/** A LIKE pattern that finds `text` anywhere, its own wildcards taken literally. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

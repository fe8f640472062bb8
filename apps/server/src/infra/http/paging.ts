/** The reply of every list. */
export const pageOf = <T>(data: T[], total: number, { limit, offset }: { limit: number; offset: number }) => ({
  data,
  total,
  limit,
  offset
})

/** A LIKE pattern that finds `text` anywhere, its own wildcards taken literally. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

import { GraphQLError } from 'graphql'

export type PageArgs = { first?: number; after?: string | null }
export type UserError = { field: string[]; message: string }

export const gid = (kind: string, id: string) => `gid://shopify/${kind}/${id}`
export const idOf = (id: string, kind: string): string | null => {
  const prefix = `gid://shopify/${kind}/`
  return id.startsWith(prefix) ? id.slice(prefix.length) : null
}

/** One page of a list. The cursor is the index of its last row, because no row is deleted while a test walks. */
export function connection<T, U>(all: readonly T[], { first, after }: PageArgs, present: (row: T) => U) {
  if (first === undefined || first < 1 || first > 250)
    throw new GraphQLError('you must provide `first` between 1 and 250', { extensions: { code: 'BAD_REQUEST' } })
  const start = after ? Number(Buffer.from(after, 'base64url').toString()) + 1 : 0
  if (!Number.isInteger(start)) throw new GraphQLError('Invalid cursor for current pagination sort.')
  const rows = all.slice(start, start + first)
  const last = start + rows.length - 1
  return {
    nodes: rows.map(present),
    pageInfo: {
      hasNextPage: last + 1 < all.length,
      endCursor: rows.length > 0 ? Buffer.from(String(last)).toString('base64url') : null
    }
  }
}

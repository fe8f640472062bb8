import { numberOf } from '../../kit/use-address.ts'

/** Largest number of tags in a query. */
const MOST = 20

/** The unique tags in an address (`?tags=1,2`). Invalid ids are ignored. */
export const tagsIn = (query: URLSearchParams): number[] =>
  [...new Set((query.get('tags') ?? '').split(',').flatMap(part => numberOf(part) ?? []))].slice(0, MOST)

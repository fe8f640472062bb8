import { numberOf } from '../../kit/use-address.ts'

/** Tags that are asked for at once. */
const MOST = 20

/** The tags that an address asks for (`?tags=1,2`), each once; what is no id is left out. */
export const tagsIn = (query: URLSearchParams): number[] =>
  [...new Set((query.get('tags') ?? '').split(',').flatMap(part => numberOf(part) ?? []))].slice(0, MOST)

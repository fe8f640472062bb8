import type { Refusal } from '@netlet/contract'
import { z } from 'zod'
import { fieldRefusal } from '../refusals.ts'
import type { ListInput } from './list.ts'

/** Where a page ended: the sort value as PostgreSQL prints it, and the row's id. */
export type Place = { key: string; id: number }

const Parts = z.tuple([z.string(), z.string(), z.enum(['asc', 'desc']), z.string(), z.int().positive()])

/** The cursor of a place: opaque to clients, valid for one list in one order. */
export function writeCursor(list: string, { sort_by, sort_order }: ListInput, { key, id }: Place): string {
  return Buffer.from(JSON.stringify([list, sort_by, sort_order, key, id])).toString('base64url')
}

/** The place of a cursor; undefined if this list in this order did not write it. */
export function readCursor(list: string, { sort_by, sort_order }: ListInput, cursor: string): Place | undefined {
  const parsed = Parts.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()))
  if (!parsed.success) return undefined
  const [ofList, by, order, key, id] = parsed.data
  return ofList === list && by === sort_by && order === sort_order ? { key, id } : undefined
}

export const badCursor = (): Refusal => fieldRefusal('after', 'bad_cursor')

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Counter } from '../proxy/traffic-meter.ts'
import type { SavedQuota } from './quotas.ts'

/** A row of the file. `seq` rises with each save that changed the row. */
export type SavedRow = Omit<Counter, 'codes'> & {
  user: string
  ip: string
  since: string
  changed: number
  codes?: Record<string, number>
  seq?: number
}
export type TrafficFile = { epoch: string; rows: SavedRow[]; quotas: SavedQuota[] }

/** Text before and after the rows. No row contains it, because quotes in a row's texts are escaped. */
export const headOf = (epoch: string): string => `{"format":1,"epoch":${JSON.stringify(epoch)},"rows":[`
export const ROW_END = ',\n'
const QUOTAS = '],"quotas":'
export const tailOf = (quotas: readonly SavedQuota[]): string => `${QUOTAS}${JSON.stringify(quotas)}}\n`

const HEAD = /^\{"format":1,"epoch":("(?:[^"\\]|\\.)*"),"rows":\[/

/**
 * Reads a traffic file in pieces, because it may exceed the longest possible string.
 * @throws Error if it is missing or incomplete
 */
export async function readTrafficFile(path: string): Promise<TrafficFile> {
  const rows: SavedRow[] = []
  let epoch: string | null = null
  let quotas: SavedQuota[] | null = null
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    let text = line
    if (epoch === null) {
      const [head = '', name] = HEAD.exec(line) ?? []
      if (name === undefined) throw new Error('another format')
      epoch = JSON.parse(name) as string
      text = line.slice(head.length)
    }
    const end = text.indexOf(QUOTAS)
    if (end >= 0) quotas = (JSON.parse(`{${text.slice(end + 2)}`) as { quotas: SavedQuota[] }).quotas
    // Older files have no quotas.
    else if (text.endsWith(']}')) quotas = []
    const found = end >= 0 ? text.slice(0, end) : quotas === null ? text.replace(/,$/, '') : text.slice(0, -2)
    for (const row of JSON.parse(`[${found}]`) as SavedRow[]) rows.push(row)
  }
  if (epoch === null || quotas === null) throw new Error('not whole')
  return { epoch, rows, quotas }
}

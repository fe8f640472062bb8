// The inside of a backup: frames of one kind byte, a length and a body, which age encrypts and authenticates as a whole.
import { createHash, type Hash } from 'node:crypto'
import { z } from 'zod'
import { StartupError } from '../infra/db/migrate.ts'

const FORMAT = 1
/** The most bytes of a frame. A row of the database may be longer: it is spread over several frames. */
export const FRAME_BYTES = 1 << 20
/** Headers name all tables and columns, and hold the files of a small shop. */
const MOST_BYTES = 64 << 20

const name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/)

const Header = z.object({
  netlet_backup: z.literal(FORMAT),
  at: z.iso.datetime(),
  /** The migration that the database stood at. */
  migration: z.int().positive(),
  /** Settings of the environment, such as APP_SECRET. */
  environment: z.record(z.string(), z.string()),
  /** Small files of the data folder of a shop with an embedded database, by name. */
  files: z.record(z.string(), z.string())
})
export type Header = z.infer<typeof Header>

const Table = z.object({ table: name, columns: z.array(name).min(1) })
export type Table = z.infer<typeof Table>

const Counted = z.object({ table: name, rows: z.int(), bytes: z.int(), sha256: z.string() })
export type Counted = z.infer<typeof Counted>

const Manifest = z.object({
  tables: z.array(Counted),
  sequences: z.record(name, z.int()),
  /** What the invariants of the books and of the inventory found; null if the database had another schema. */
  checks: z.record(z.string(), z.int()).nullable()
})
export type Manifest = z.infer<typeof Manifest>

export type Part =
  | { kind: 'header'; header: Header }
  | { kind: 'table'; table: Table }
  | { kind: 'rows'; bytes: Buffer }
  | { kind: 'end'; manifest: Manifest }

const KINDS = { header: 1, table: 2, rows: 3, end: 4 } as const

export function frameOf(part: Part): Buffer {
  const body =
    part.kind === 'rows'
      ? part.bytes
      : Buffer.from(
          JSON.stringify(part.kind === 'header' ? part.header : part.kind === 'table' ? part.table : part.manifest)
        )
  const head = Buffer.alloc(5)
  head.writeUInt8(KINDS[part.kind], 0)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

const damaged = (why: string) => new BackupProblem(`The backup is damaged: ${why}. Use another one.`)

/** Reads the parts of a backup in order. @throws BackupProblem if it is none, or is cut or damaged */
export async function* partsOf(plain: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
  let kept: Buffer = Buffer.alloc(0)
  let first = true
  let ended = false
  for await (const chunk of plain) {
    kept = kept.length === 0 ? Buffer.from(chunk) : Buffer.concat([kept, chunk])
    while (kept.length >= 5) {
      const kind = kept.readUInt8(0)
      const length = kept.readUInt32BE(1)
      if (length > (kind === KINDS.rows ? FRAME_BYTES : MOST_BYTES)) throw damaged('a part is too long')
      if (kept.length < 5 + length) break
      if (ended) throw damaged('something follows its end')
      const part = partOf(kind, kept.subarray(5, 5 + length))
      if (first !== (part.kind === 'header')) throw damaged('it does not begin with its header')
      first = false
      ended = part.kind === 'end'
      kept = kept.subarray(5 + length)
      yield part
    }
  }
  if (!ended || kept.length > 0) throw damaged('it has no end')
}

function partOf(kind: number, body: Buffer): Part {
  if (kind === KINDS.rows) return { kind: 'rows', bytes: body }
  const json = jsonOf(body)
  if (kind === KINDS.header) {
    if (typeof json === 'object' && json !== null && 'netlet_backup' in json && json.netlet_backup !== FORMAT)
      throw new BackupProblem('The backup comes from a newer version of Netlet. Update the code, then restore it.')
    return { kind: 'header', header: parsed(Header, json) }
  }
  if (kind === KINDS.table) return { kind: 'table', table: parsed(Table, json) }
  if (kind === KINDS.end) return { kind: 'end', manifest: parsed(Manifest, json) }
  throw damaged('it has an unknown part')
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw damaged('a part cannot be read')
  }
}

function parsed<T>(schema: z.ZodType<T>, json: unknown): T {
  const result = schema.safeParse(json)
  if (!result.success) throw damaged('a part cannot be read')
  return result.data
}

const NEWLINE = 10

/** Counts the rows of a table and hashes them. In PostgreSQL's text format each row, and nothing else, ends in a newline. */
export class Counter {
  readonly #hash: Hash = createHash('sha256')
  #rows = 0
  #bytes = 0

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    this.#bytes += bytes.length
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) this.#rows += 1
  }

  of(table: string): Counted {
    return { table, rows: this.#rows, bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }
}

/** @throws BackupProblem if the tables are not those of the manifest */
export function compare(found: readonly Counted[], { tables }: Manifest): void {
  const wrong = tables.find((expected, at) => JSON.stringify(expected) !== JSON.stringify(found[at]))
  if (wrong) throw damaged(`the table ${wrong.table} is not what was written`)
  if (found.length !== tables.length) throw damaged('it has tables that are not in its list')
}

/** What a person has to solve; the message is one line. */
export class BackupProblem extends StartupError {
  override name = 'BackupProblem'
}

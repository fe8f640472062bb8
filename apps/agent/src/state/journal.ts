import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Op } from './ops.ts'

/** One line of the file: the changes that made `version`. */
export type Entry = { version: number; ops: Op[] }
type Header = { format: 1; epoch: string; version: number }

export type Loaded = { header: Header; entries: Entry[]; bytes: number }
export type ReadResult = { ok: true; loaded: Loaded | null } | { ok: false; reason: string }

const seal = (value: unknown): string => {
  const json = JSON.stringify(value)
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`
}

/** The value of a sealed line, or undefined where the line is not what was written. */
function unseal(line: string): unknown {
  const json = line.slice(9)
  if (line[8] !== ' ' || crc32(json).toString(16).padStart(8, '0') !== line.slice(0, 8)) return undefined
  return JSON.parse(json)
}

/**
 * Reads a journal. Only its last line may be torn (a change that was never acknowledged, cut by a crash): it is left
 * out. Damage before the last line means that acknowledged changes are gone, which nobody may guess over.
 */
export async function readJournal(path: string): Promise<ReadResult> {
  let text: string
  let size: number
  try {
    const file = await open(path, 'r')
    try {
      const content = await file.readFile()
      size = content.length
      text = content.toString('utf8')
    } finally {
      await file.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ok: true, loaded: null }
    return { ok: false, reason: `cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
  const lines = text.split('\n')
  const torn = lines.pop() ?? ''
  const values = lines.map(unseal)
  let bytes = size - Buffer.byteLength(torn)
  if (values.length > 1 && values.at(-1) === undefined) {
    bytes -= Buffer.byteLength(lines.at(-1) ?? '') + 1
    values.pop()
  }
  const bad = values.indexOf(undefined)
  if (bad >= 0 || values.length === 0) return { ok: false, reason: `is damaged at line ${Math.max(bad, 0) + 1}` }
  const header = values[0] as Header
  if (header.format !== 1) return { ok: false, reason: 'was written by another version of the agent' }
  return { ok: true, loaded: { header, entries: values.slice(1) as Entry[], bytes } }
}

/** The append-only file of changes. A write is durable when its promise resolves. */
export class Journal {
  readonly #path: string
  #file: FileHandle
  #bytes: number
  #base: number

  private constructor(path: string, file: FileHandle, bytes: number) {
    this.#path = path
    this.#file = file
    this.#bytes = bytes
    this.#base = bytes
  }

  /** Opens a file that `readJournal` read, cutting off the torn end behind `bytes`. */
  static async openExisting(path: string, bytes: number): Promise<Journal> {
    const file = await open(path, 'r+')
    await file.truncate(bytes)
    await file.sync()
    return new Journal(path, file, bytes)
  }

  /** Writes a new file with these entries in place of whatever is there: temporary file, fsync, rename. */
  static async create(path: string, epoch: string, version: number, entries: Iterable<Entry>): Promise<Journal> {
    const temporary = `${path}.new`
    const file = await open(temporary, 'w', 0o600)
    let bytes = 0
    let pending: string[] = [seal({ format: 1, epoch, version } satisfies Header)]
    let size = 0
    const flush = async (): Promise<void> => {
      const buffer = Buffer.from(pending.join(''))
      await writeAll(file, buffer, bytes)
      bytes += buffer.length
      pending = []
      size = 0
    }
    for (const entry of entries) {
      const line = seal(entry)
      pending.push(line)
      size += line.length
      if (size > 1 << 20) await flush()
    }
    await flush()
    await file.sync()
    await rename(temporary, path)
    await syncFolder(dirname(path))
    return new Journal(path, file, bytes)
  }

  /** Whether the changes since the file was last rewritten outweigh what it held then, so that rewriting pays. */
  get overgrown(): boolean {
    return this.#bytes - this.#base > Math.max(4 << 20, this.#base)
  }

  /** Appends one entry and waits for the disk. Where that fails the file is as before, and the error is thrown. */
  async append(entry: Entry): Promise<void> {
    const buffer = Buffer.from(seal(entry))
    try {
      await writeAll(this.#file, buffer, this.#bytes)
      await this.#file.datasync()
    } catch (error) {
      await this.#file.truncate(this.#bytes)
      throw error
    }
    this.#bytes += buffer.length
  }

  /** Replaces the file by a shorter one with the same meaning. */
  async rewrite(epoch: string, version: number, entries: Iterable<Entry>): Promise<void> {
    const fresh = await Journal.create(this.#path, epoch, version, entries)
    const old = this.#file
    this.#file = fresh.#file
    this.#bytes = fresh.#bytes
    this.#base = fresh.#bytes
    await old.close()
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

async function writeAll(file: FileHandle, buffer: Buffer, position: number): Promise<void> {
  let written = 0
  while (written < buffer.length) {
    const { bytesWritten } = await file.write(buffer, written, buffer.length - written, position + written)
    written += bytesWritten
  }
}

/** A rename is durable only once its folder is. Windows cannot open folders and orders renames itself. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Op } from './definitions.ts'

/** One line of the file: the changes that lead to `version`. */
export type Entry = { version: number; ops: Op[] }
type Header = { format: 1; epoch: string; version: number }

/** `bytes`: length of the valid part. `base`: length right after the last rewrite. `inode`: identity of the file. */
export type Loaded = { header: Header; bytes: number; base: number; inode: number }
export type ReadResult = { ok: true; loaded: Loaded | null } | { ok: false; reason: string }

const seal = (value: unknown): string => {
  const json = JSON.stringify(value)
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`
}

/** The value of a sealed line. Undefined: the checksum does not match. */
function unseal(line: string): unknown {
  const json = line.slice(9)
  if (line[8] !== ' ' || crc32(json).toString(16).padStart(8, '0') !== line.slice(0, 8)) return undefined
  return JSON.parse(json)
}

const PIECE = 1 << 20

/** Complete lines with the offset after each. At most one piece and one line are in memory. */
async function* linesOf(file: FileHandle, start: number): AsyncGenerator<{ text: string; end: number }> {
  const piece = Buffer.allocUnsafe(PIECE)
  let parts: Buffer[] = []
  let at = start
  for (;;) {
    const { bytesRead } = await file.read(piece, 0, PIECE, at)
    if (bytesRead === 0) return
    let from = 0
    for (;;) {
      const newline = piece.subarray(0, bytesRead).indexOf(10, from)
      if (newline < 0) break
      const text = Buffer.concat([...parts, piece.subarray(from, newline)]).toString('utf8')
      parts = []
      from = newline + 1
      yield { text, end: at + from }
    }
    if (from < bytesRead) parts.push(Buffer.from(piece.subarray(from, bytesRead)))
    at += bytesRead
  }
}

/**
 * Reads a journal and passes on its entries. A torn last line is ignored: a crash cut it, and the change was never
 * acknowledged. Damage elsewhere means that acknowledged changes are lost, so it fails; entries passed on before do not count.
 * @param from the end of an earlier read of the same file; only later entries are read
 * @param upTo the end of the durable part while another process writes; later entries may still be reverted
 */
export async function readJournal(
  path: string,
  take: (entry: Entry) => void,
  { from = null, upTo = Infinity }: { from?: Loaded | null; upTo?: number } = {}
): Promise<ReadResult> {
  let file: FileHandle
  try {
    file = await open(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ok: true, loaded: null }
    return { ok: false, reason: `cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
  try {
    return await readLines(file, take, from, upTo)
  } catch (error) {
    return { ok: false, reason: `cannot be read (${(error as NodeJS.ErrnoException).code})` }
  } finally {
    await file.close()
  }
}

async function readLines(
  file: FileHandle,
  take: (entry: Entry) => void,
  from: Loaded | null,
  upTo: number
): Promise<ReadResult> {
  const { ino: inode, size } = await file.stat()
  if (from !== null && from.inode !== inode) return { ok: false, reason: 'was rewritten meanwhile' }
  // Entries that were read are lost or were reverted, so the true state is unknown.
  if (from !== null && size < from.bytes) return { ok: false, reason: 'is shorter than it was' }
  let header = from?.header ?? null
  let number = 0
  let bytes = from?.bytes ?? 0
  let base = from?.base ?? 0
  let rewritten = from === null
  let bad = 0
  for await (const { text, end } of linesOf(file, bytes)) {
    if (end > upTo) break
    number++
    if (bad > 0) return { ok: false, reason: `is damaged at line ${bad}` }
    const value = unseal(text)
    if (value === undefined) {
      // Tolerated if it is the last line.
      bad = number
      continue
    }
    bytes = end
    if (header === null) {
      header = value as Header
      if (header.format !== 1) return { ok: false, reason: 'was written by another version of the agent' }
    } else {
      const entry = value as Entry
      // Entries after a rewrite have higher versions. Empty entries only tested the disk.
      rewritten &&= entry.version <= header.version && entry.ops.length > 0
      take(entry)
    }
    if (rewritten) base = end
  }
  if (header === null) return { ok: false, reason: 'is damaged at line 1' }
  if (upTo < Infinity && bytes !== upTo) return { ok: false, reason: `is damaged at line ${bad || number + 1}` }
  return { ok: true, loaded: { header, bytes, base, inode } }
}

/** Least growth before a rewrite. */
const WORTH_IT = 4 << 20

/** The append-only file of changes. A write is durable once its promise resolves. */
export class Journal {
  readonly #path: string
  #file: FileHandle
  #bytes: number
  #base: number
  /** No rewrite below this size, because the last one failed. */
  #patience = 0
  /** The rename may not be durable yet. */
  #unsynced = false

  private constructor(path: string, file: FileHandle, bytes: number, base: number) {
    this.#path = path
    this.#file = file
    this.#bytes = bytes
    this.#base = base
  }

  /** Opens a file that was read. Cuts off its torn end, and removes an unfinished rewrite. */
  static async openExisting(path: string, { bytes, base }: Loaded): Promise<Journal> {
    await rm(`${path}.new`, { force: true })
    const file = await open(path, 'r+')
    // Truncate never extends the file: zeros would make the next start refuse it.
    if ((await file.stat()).size > bytes) await file.truncate(bytes)
    await file.sync()
    return new Journal(path, file, bytes, base)
  }

  /**
   * Replaces the file by a new one with these entries: temporary file, fsync, rename. If it fails, the previous file is unchanged
   * and the temporary one is removed.
   */
  static async create(path: string, epoch: string, version: number, entries: Iterable<Entry>): Promise<Journal> {
    const temporary = `${path}.new`
    const file = await open(temporary, 'w', 0o600)
    try {
      const bytes = await Journal.#writeEntries(file, epoch, version, entries)
      await rename(temporary, path)
      const journal = new Journal(path, file, bytes, bytes)
      journal.#unsynced = true
      return journal
    } catch (error) {
      await file.close().catch(() => {})
      await rm(temporary, { force: true }).catch(() => {})
      throw error
    }
  }

  static async #writeEntries(
    file: FileHandle,
    epoch: string,
    version: number,
    entries: Iterable<Entry>
  ): Promise<number> {
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
    return bytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The end of the file, from which another reader may continue. */
  async place(epoch: string, version: number): Promise<Loaded> {
    const inode = (await this.#file.stat()).ino
    return { header: { format: 1, epoch, version }, bytes: this.#bytes, base: this.#base, inode }
  }

  /** Whether the file has grown enough since the last rewrite for another one to pay. */
  get overgrown(): boolean {
    return this.#bytes - this.#base > Math.max(WORTH_IT, this.#base) && this.#bytes >= this.#patience
  }

  /** Appends one entry and waits for the disk. If it fails, the file is restored and the error thrown. */
  async append(entry: Entry): Promise<void> {
    const buffer = Buffer.from(seal(entry))
    try {
      await this.#syncName()
      await writeAll(this.#file, buffer, this.#bytes)
      await this.#file.datasync()
    } catch (error) {
      await this.#file.truncate(this.#bytes)
      throw error
    }
    this.#bytes += buffer.length
  }

  /** Replaces the file by an equivalent shorter one. */
  async rewrite(epoch: string, version: number, entries: Iterable<Entry>): Promise<void> {
    // If this fails, the next attempt waits for more growth, so that a full disk is not written again with each change.
    this.#patience = this.#bytes + WORTH_IT
    const fresh = await Journal.create(this.#path, epoch, version, entries)
    const old = this.#file
    this.#file = fresh.#file
    this.#bytes = fresh.#bytes
    this.#base = fresh.#bytes
    this.#patience = 0
    this.#unsynced = true
    await old.close()
    await this.#syncName()
  }

  /** After a rewrite, appended entries are durable only once the rename is. */
  async #syncName(): Promise<void> {
    if (!this.#unsynced) return
    await syncFolder(dirname(this.#path))
    this.#unsynced = false
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

/** A rename is durable once its folder is synced. Windows cannot open folders, and orders renames itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

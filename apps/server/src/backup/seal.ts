// Compression and encryption of a backup: zstd within age, with a passphrase or the key of a recipient.
import { reasonOf } from '../infra/text.ts'
import { Decrypter, Encrypter } from 'age-encryption'
import { createReadStream, createWriteStream, readFileSync } from 'node:fs'
import { link, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { DAY } from '../infra/clock.ts'
import {
  BackupProblem,
  compare,
  type Counted,
  Counter,
  frameOf,
  type Header,
  type Manifest,
  type Part,
  partsOf
} from './format.ts'

const SHORTEST_PASSPHRASE = 12

/** How backups are locked and opened, from BACKUP_PASSPHRASE, BACKUP_RECIPIENT and BACKUP_IDENTITY_FILE. */
export type Lock = {
  /** @throws BackupProblem if nothing is set that can lock a backup */
  encrypter(): Encrypter
  /** @throws BackupProblem if nothing is set that can open one */
  decrypter(): Decrypter
}

/** @param workFactor of scrypt, as a power of two; only tests lower it */
export function lockFrom(env: NodeJS.ProcessEnv, workFactor?: number): Lock {
  const { BACKUP_PASSPHRASE: passphrase, BACKUP_RECIPIENT: recipient, BACKUP_IDENTITY_FILE: identityFile } = env
  return {
    encrypter() {
      const encrypter = new Encrypter()
      if (recipient) {
        try {
          encrypter.addRecipient(recipient)
        } catch (error) {
          throw new BackupProblem(`BACKUP_RECIPIENT is not an age public key, such as age1…: ${reasonOf(error)}.`)
        }
        return encrypter
      }
      if (!passphrase)
        throw new BackupProblem(
          'Set BACKUP_PASSPHRASE to a passphrase that you keep elsewhere, or BACKUP_RECIPIENT to an age public key. Without one of them, a backup would reveal every secret of the shop.'
        )
      if (passphrase.length < SHORTEST_PASSPHRASE)
        throw new BackupProblem(`BACKUP_PASSPHRASE needs at least ${SHORTEST_PASSPHRASE} characters.`)
      encrypter.setPassphrase(passphrase)
      if (workFactor !== undefined) encrypter.setScryptWorkFactor(workFactor)
      return encrypter
    },
    decrypter() {
      const decrypter = new Decrypter()
      if (identityFile) {
        const key = identityOf(identityFile)
        try {
          decrypter.addIdentity(key)
        } catch (error) {
          throw new BackupProblem(`BACKUP_IDENTITY_FILE contains no age secret key: ${reasonOf(error)}.`)
        }
      }
      if (passphrase) decrypter.addPassphrase(passphrase)
      if (!identityFile && !passphrase)
        throw new BackupProblem(
          'Set BACKUP_PASSPHRASE to the passphrase of the backup, or BACKUP_IDENTITY_FILE to the file with its age secret key.'
        )
      return decrypter
    }
  }
}

/** The key in a file of age-keygen, which may have comments. */
function identityOf(file: string): string {
  try {
    return (
      readFileSync(file, 'utf8')
        .split('\n')
        .map(line => line.trim())
        .find(line => line !== '' && !line.startsWith('#')) ?? ''
    )
  } catch (error) {
    throw new BackupProblem(`BACKUP_IDENTITY_FILE cannot be read: ${reasonOf(error)}.`)
  }
}

const FINISHED = /^netlet-\d{8}T\d{9}Z\.age$/
const UNFINISHED = /^\.netlet-\d{8}T\d{9}Z-\d+\.part$/

/** The finished backups of a folder, oldest first. */
export async function backupsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .filter(one => FINISHED.test(one))
    .toSorted()
    .map(one => join(folder, one))
}

/**
 * Writes a backup under a temporary name, and gives it its own once all is on the disk.
 * @returns its path and size
 */
export async function writeBackup(
  folder: string,
  { lock, at }: { lock: Lock; at: Date },
  parts: AsyncIterable<Part>
): Promise<{ path: string; bytes: number }> {
  const encrypter = lock.encrypter()
  const stamp = at.toISOString().replaceAll(/[-:.]/g, '')
  const path = join(folder, `netlet-${stamp}.age`)
  const temporary = join(folder, `.netlet-${stamp}-${process.pid}.part`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await removeUnfinished(folder, at)
    const frames = async function* () {
      for await (const part of parts) yield frameOf(part)
    }
    const packed = createZstdCompress()
    await withFeeding(pipeline(frames, packed), async () => {
      const sealed = await encrypter.encrypt(Readable.toWeb(packed) as ReadableStream<Uint8Array>)
      await pipeline(Readable.fromWeb(sealed as never), createWriteStream(temporary, { flags: 'wx', mode: 0o600 }))
    })
    await sync(temporary)
    // Unlike a rename, a link replaces no other backup of the same moment.
    await link(temporary, path)
    await rm(temporary)
    await sync(folder)
    return { path, bytes: (await stat(path)).size }
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    if (error instanceof BackupProblem) throw error
    throw new BackupProblem(`The backup could not be written to ${folder}: ${reasonOf(error)}.`)
  }
}

/** Another backup may be writing its own file, so only files of yesterday are removed. */
async function removeUnfinished(folder: string, now: Date): Promise<void> {
  for (const name of (await readdir(folder)).filter(one => UNFINISHED.test(one))) {
    const path = join(folder, name)
    const info = await stat(path).catch(() => undefined)
    if (info && info.mtimeMs < now.getTime() - DAY) await rm(path, { force: true })
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Removes all finished backups of the folder but the newest. @returns how many */
export async function removeOldBackups(path: string, count: number): Promise<number> {
  const old = (await backupsIn(dirname(path))).slice(0, -count)
  for (const one of old) await rm(one, { force: true })
  return old.length
}

/** The work at one end of a stream, and the feeding of its other end. The feeding's error is the cause of the other. */
async function withFeeding(feeding: Promise<void>, work: () => Promise<void>): Promise<void> {
  let cause: unknown
  feeding.catch((error: unknown) => (cause = error))
  try {
    await work()
    await feeding
  } catch (error) {
    throw cause ?? error
  }
}

/** Opens a backup. @throws BackupProblem if it cannot be opened with this lock */
export async function* readBackup(path: string, lock: Lock): AsyncGenerator<Part> {
  const decrypter = lock.decrypter()
  const file = createReadStream(path)
  const unpacked = createZstdDecompress()
  let cause: unknown
  try {
    const plain = await decrypter.decrypt(Readable.toWeb(file) as ReadableStream<Uint8Array>)
    const feeding = pipeline(Readable.fromWeb(plain as never), unpacked)
    feeding.catch((error: unknown) => (cause = error))
    yield* partsOf(unpacked)
    await feeding
  } catch (error) {
    if (error instanceof BackupProblem) throw error
    throw new BackupProblem(whyUnreadable(path, cause ?? error))
  } finally {
    file.destroy()
    unpacked.destroy()
  }
}

function whyUnreadable(path: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return `There is no file ${path}.`
  if (code === 'EACCES' || code === 'EISDIR') return `${path} cannot be read: ${reasonOf(error)}.`
  if (/no identity matched/.test(reasonOf(error))) return 'The backup cannot be opened. The passphrase or key is wrong.'
  if (/invalid (version|header|stanza)|hmac/i.test(reasonOf(error)))
    return `${path} is not a Netlet backup, or it is damaged.`
  return `The backup is damaged or cut off (${reasonOf(error)}). Use another one.`
}

/** Reads a whole backup and checks every table. @throws BackupProblem if anything is wrong with it */
export async function verifyBackup(path: string, lock: Lock): Promise<{ header: Header; manifest: Manifest }> {
  let header: Header | undefined
  let manifest: Manifest | undefined
  const found: Counted[] = []
  let table = ''
  let counter = new Counter()
  const finish = () => {
    if (table !== '') found.push(counter.of(table))
    counter = new Counter()
  }
  for await (const part of readBackup(path, lock)) {
    if (part.kind === 'header') header = part.header
    else if (part.kind === 'rows') counter.add(part.bytes)
    else {
      finish()
      table = part.kind === 'table' ? part.table.table : ''
      if (part.kind === 'end') manifest = part.manifest
    }
  }
  if (!header || !manifest) throw new BackupProblem('The backup is damaged: it has no end. Use another one.')
  compare(found, manifest)
  return { header, manifest }
}

import { X509Certificate } from 'node:crypto'
import { unwatchFile, watchFile } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { certificateNames } from '@netlet/contract/proxy-tls'

/** A certificate chain and its key, as PEM. */
export type Pem = { cert: string; key: string }
/** Paths of the files that hold them. */
type PemFiles = Pem

/** A disk is faster. A pipe or a network folder may never answer. */
const READ_MS = 5000
/** Larger than any real chain. */
const MOST_BYTES = 1_000_000

/** @throws Error if certificate and key cannot be read or do not match */
export function requirePair(pem: Pem): void {
  // createSecureContext skips empty texts and would compare nothing. A full disk leaves empty files.
  if (pem.cert.trim() === '') throw new Error('there is no certificate')
  if (pem.key.trim() === '') throw new Error('there is no key')
  createSecureContext(pem)
}

/** @throws Error if the files cannot be read or do not match */
export async function readPem(files: PemFiles): Promise<Pem> {
  const [cert, key] = await Promise.all([readText(files.cert), readText(files.key)])
  requirePair({ cert, key })
  return { cert, key }
}

/** @throws Error if it is not a plain file, is too large, or is not read in time */
async function readText(path: string): Promise<string> {
  const read = async () => {
    const found = await stat(path)
    if (!found.isFile()) throw new Error(`${path} is no plain file`)
    if (found.size > MOST_BYTES) throw new Error(`${path} is larger than ${MOST_BYTES} bytes`)
    return readFile(path, 'utf8')
  }
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${path} was not read within ${READ_MS / 1000} seconds`)), READ_MS)
  return Promise.race([read(), late]).finally(() => clearTimeout(timer))
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

function certificatesOf(chain: string): X509Certificate[] {
  return [...chain.matchAll(BLOCK)].flatMap(([block]) => {
    try {
      return [new X509Certificate(block)]
    } catch {
      return []
    }
  })
}

/** The earliest expiry in a chain, ISO 8601; clients refuse the chain after it. Null: no certificate can be read. */
export function endOf(cert: string): string | null {
  const ends = certificatesOf(cert).map(({ validToDate }) => validToDate.toISOString())
  return ends.toSorted()[0] ?? null
}

/** Host names and addresses of the chain's first certificate. */
export const namesOf = (cert: string): string[] => certificateNames(certificatesOf(cert)[0]?.subjectAltName)

/** A certificate in files. It reads them again when they change, and keeps the last valid pair. */
export class WatchedCertificate {
  readonly #files: PemFiles
  readonly #changed: (pem: Pem) => void
  readonly #tell: (message: string) => void
  #pem: Pem | null = null
  #fault: string | null = null
  #reading: Promise<void> = Promise.resolve()
  readonly #look = (): void => void this.reread()

  private constructor(files: PemFiles, changed: (pem: Pem) => void, tell: (message: string) => void, lookMs: number) {
    this.#files = files
    this.#changed = changed
    this.#tell = tell
    // Watched by name, because renewals replace files and links.
    for (const file of new Set(Object.values(files))) {
      watchFile(file, { interval: lookMs, persistent: false }, this.#look)
    }
  }

  /**
   * @param files unusable files are watched until they become usable
   * @param changed receives each valid pair, also the first
   * @param lookMs polling interval
   */
  static async open(
    files: PemFiles,
    changed: (pem: Pem) => void,
    tell: (message: string) => void,
    lookMs: number
  ): Promise<WatchedCertificate> {
    const certificate = new WatchedCertificate(files, changed, tell, lookMs)
    await certificate.reread()
    return certificate
  }

  /** Null: no valid pair was read yet. */
  get pem(): Pem | null {
    return this.#pem
  }

  /** Why the present files cannot be used. Null: they are in use. */
  get fault(): string | null {
    return this.#fault
  }

  /** Reads the files again. Calls run one after another. */
  reread(): Promise<void> {
    return (this.#reading = this.#reading.then(() => this.#read()))
  }

  async #read(): Promise<void> {
    try {
      const pem = await readPem(this.#files)
      this.#fault = null
      if (pem.cert === this.#pem?.cert && pem.key === this.#pem.key) return
      this.#pem = pem
      this.#changed(pem)
    } catch (error) {
      // Usual during a renewal: one of the two files is written first.
      this.#fault = error instanceof Error ? error.message : String(error)
      const goesOn = this.#pem === null ? 'There is none' : 'The previous one stays in use'
      this.#tell(`The certificate in ${this.#files.cert} is not used: ${this.#fault}. ${goesOn}.`)
    }
  }

  close(): void {
    for (const file of Object.values(this.#files)) unwatchFile(file, this.#look)
  }
}

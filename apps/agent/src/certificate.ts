import { X509Certificate } from 'node:crypto'
import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'

/** A certificate with its chain, and its key, as PEM. */
export type Pem = { cert: string; key: string }

const LOOK_MS = 5000

/** Reads a certificate and its key. @throws Error where they cannot be read or do not belong together */
async function readPem(files: Pem): Promise<Pem> {
  const [cert, key] = await Promise.all([readFile(files.cert, 'utf8'), readFile(files.key, 'utf8')])
  createSecureContext({ cert, key })
  return { cert, key }
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** When the first certificate of a chain ends, ISO 8601: past that, clients refuse the chain. Null: none can be read. */
export function endOf(cert: string): string | null {
  const ends = [...cert.matchAll(BLOCK)].flatMap(([block]) => {
    try {
      return [new X509Certificate(block).validToDate.toISOString()]
    } catch {
      return []
    }
  })
  return ends.toSorted()[0] ?? null
}

/** The certificate of the proxy port: it is read again when its files change, and one that is of no use is passed over. */
export class Certificate {
  readonly #files: Pem
  readonly #changed: (pem: Pem) => void
  readonly #tell: (message: string) => void
  #pem: Pem
  #reading: Promise<void> = Promise.resolve()
  readonly #look = (): void => void this.renew()

  private constructor(files: Pem, pem: Pem, changed: (pem: Pem) => void, tell: (message: string) => void) {
    this.#files = files
    this.#pem = pem
    this.#changed = changed
    this.#tell = tell
    // By name and not by file: renewals put links and files in place of others.
    for (const file of Object.values(files)) {
      watchFile(file, { interval: LOOK_MS, persistent: false }, this.#look)
    }
  }

  /** @param files paths; null where the present ones are of no use */
  static async open(
    files: Pem,
    changed: (pem: Pem) => void,
    tell: (message: string) => void
  ): Promise<Certificate | null> {
    const pem = await readPem(files).catch(() => null)
    return pem === null ? null : new Certificate(files, pem, changed, tell)
  }

  get pem(): Pem {
    return this.#pem
  }

  /** Reads the files again, one reading after the other. */
  renew(): Promise<void> {
    return (this.#reading = this.#reading.then(() => this.#read()))
  }

  async #read(): Promise<void> {
    try {
      const pem = await readPem(this.#files)
      if (pem.cert === this.#pem.cert && pem.key === this.#pem.key) return
      this.#pem = pem
      this.#changed(pem)
    } catch (error) {
      // Of two files one is written first: the other one is on its way.
      const why = error instanceof Error ? error.message : String(error)
      this.#tell(`The certificate of PROXY_TLS_CERT is not taken: ${why}. The one before stays in use.`)
    }
  }

  close(): void {
    for (const file of Object.values(this.#files)) unwatchFile(file, this.#look)
  }
}

import { proxyTlsHash } from '@netlet/contract/agent-hashes'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type AgentProxyTls, agentProxyTls, type AgentProxyTlsState } from '@netlet/contract/proxy-tls'
import { WatchedCertificate, type Pem, requirePair } from './certificate.ts'
import { SmallFile } from './state/replace-file.ts'

export type SetResult =
  | { ok: true; state: AgentProxyTlsState }
  | { ok: false; reason: 'proxyTlsByEnvironment' | 'proxyTlsNoPair' | 'notDurable'; detail?: string }

type Hooks = {
  /** Called with the certificate for new connections. Null: TLS ends. */
  changed: (pem: Pem | null) => void
  tell: (message: string) => void
  /** Polling interval for certificate files. */
  lookMs: number
}

/** `files` is set if the source is files, which are read again when they change. `fault`: why it cannot be used now. */
type Opened = { files: WatchedCertificate | null; pem: Pem | null; fault: string | null }

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 1000)

/**
 * The certificate for TLS on the proxy port: from PROXY_TLS_CERT, or from the console and then kept in the agent's
 * folder. If it cannot be used, the agent serves without TLS.
 */
export class ProxyTls {
  readonly #file: SmallFile
  readonly #environment: WatchedCertificate | null
  readonly #hooks: Hooks
  #wanted: AgentProxyTls | null = null
  /** The file's text when it was last read or written. It differs if another process of this agent wrote it. */
  #text: string | null = null
  #files: WatchedCertificate | null = null
  #pem: Pem | null = null
  #fault: string | null = null
  #working: Promise<unknown> = Promise.resolve()

  private constructor(file: SmallFile, environment: WatchedCertificate | null, hooks: Hooks) {
    this.#file = file
    this.#environment = environment
    this.#hooks = hooks
  }

  /** @param environment the certificate of PROXY_TLS_CERT; null: the console decides */
  static async open(folder: string, environment: WatchedCertificate | null, hooks: Hooks): Promise<ProxyTls> {
    const tls = new ProxyTls(new SmallFile(join(folder, 'proxy-tls.json')), environment, hooks)
    await tls.reload()
    return tls
  }

  get pem(): Pem | null {
    return this.#environment === null ? (this.#files?.pem ?? this.#pem) : this.#environment.pem
  }

  get state(): AgentProxyTlsState {
    const fault = this.#environment?.fault ?? this.#files?.fault ?? this.#fault
    const source = this.#environment === null ? (this.#wanted?.source ?? 'none') : 'environment'
    return { source, hash: this.#wanted && proxyTlsHash(this.#wanted), fault: fault && fault.slice(0, 1000) }
  }

  /** Reads the file again, which another process of this agent may have changed. */
  reload(): Promise<void> {
    return this.#queue(async () => {
      const text = await readFile(this.#file.path, 'utf8').catch((error: NodeJS.ErrnoException) =>
        // A file that cannot be read still means that TLS is wanted.
        error.code === 'ENOENT' ? null : ''
      )
      if (text === this.#text) return
      this.#text = text
      if (text === null) return
      let read: AgentProxyTls
      try {
        read = agentProxyTls.parse(JSON.parse(text))
      } catch {
        this.#fault = `The file ${this.#file.path} cannot be read.`
        this.#hooks.tell(`${this.#fault} The proxy has no TLS until the console sends the certificate again.`)
        return
      }
      const taken = await this.#open(read)
      this.#take(read, taken)
    })
  }

  /** Applies a setting once it is on the disk. One that cannot be used is refused and changes nothing. */
  set(wanted: AgentProxyTls): Promise<SetResult> {
    return this.#queue(async (): Promise<SetResult> => {
      if (this.#environment !== null) return { ok: false, reason: 'proxyTlsByEnvironment' }
      if (this.#wanted && proxyTlsHash(wanted) === proxyTlsHash(this.#wanted)) {
        await this.#files?.reread()
        return { ok: true, state: this.state }
      }
      const opened = await this.#open(wanted)
      if (opened.fault !== null) {
        opened.files?.close()
        return { ok: false, reason: 'proxyTlsNoPair', detail: opened.fault }
      }
      const text = `${JSON.stringify(wanted)}\n`
      if (!(await this.#file.replace(text))) {
        opened.files?.close()
        return { ok: false, reason: 'notDurable' }
      }
      this.#text = text
      this.#take(wanted, opened)
      return { ok: true, state: this.state }
    })
  }

  /** The last setting could not be saved. */
  get isFailing(): boolean {
    return this.#file.isFailing
  }

  tryAgain(): Promise<void> {
    return this.#file.tryAgain()
  }

  /** Reads certificate files again, if there are any. */
  async renew(): Promise<void> {
    await (this.#environment ?? this.#files)?.reread()
  }

  /** Resolves when no setting is being applied. */
  async settled(): Promise<void> {
    await this.#working
  }

  close(): void {
    this.#environment?.close()
    this.#files?.close()
  }

  async #open(wanted: AgentProxyTls): Promise<Opened> {
    if (wanted.source === 'none') return { files: null, pem: null, fault: null }
    const pem = { cert: wanted.certificate, key: wanted.key }
    if (wanted.source === 'files') {
      const { tell, lookMs } = this.#hooks
      const files = await WatchedCertificate.open(pem, read => this.#renewed(wanted, read), tell, lookMs)
      return { files, pem: null, fault: files.fault }
    }
    try {
      requirePair(pem)
      return { files: null, pem, fault: null }
    } catch (error) {
      return { files: null, pem: null, fault: reasonOf(error) }
    }
  }

  #take(wanted: AgentProxyTls, { files, pem, fault }: Opened): void {
    this.#files?.close()
    this.#wanted = wanted
    this.#files = files
    this.#pem = pem
    this.#fault = files === null ? fault : null
    if (this.#environment === null) this.#hooks.changed(this.pem)
  }

  /** Files that are still being opened are not in use yet. */
  #renewed(wanted: AgentProxyTls, pem: Pem): void {
    if (wanted === this.#wanted && this.#environment === null) this.#hooks.changed(pem)
  }

  #queue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#working.then(work)
    this.#working = done.catch(() => {})
    return done
  }
}

import { createHash } from 'node:crypto'
import type { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import ssh2, { type Client, type ClientChannel, type ConnectConfig, type ServerHostKeyAlgorithm } from 'ssh2'

export type SshTarget = {
  host: string
  port: number
  username: string
  /** A password, or a private key in PEM. */
  secret: string
  /** As `SshSession.hostKey` gave it the first time; null: whichever key the machine shows is taken. */
  knownHostKey: string | null
}

export type SshOutput = { code: number; stdout: string; stderr: string }

export type SshSession = {
  /** 'ssh-ed25519 AAAA…': to be remembered. */
  hostKey: string
  /**
   * Runs a command. Secrets belong into `input`, never into the command: others on the machine can read that.
   * @throws Error where the connection broke or the time is over
   */
  run(command: string, options?: { input?: string | Readable; timeoutMs?: number }): Promise<SshOutput>
  /** Connects to a port of the machine's own loopback. */
  dial(port: number): Promise<Duplex>
  close(): void
}

export type SshResult = { ok: true; session: SshSession } | { ok: false; message: string }

const READY_MS = 20_000
const COMMAND_MS = 60_000
const LARGEST_OUTPUT = 1024 * 1024

/** Connects and logs in. The host key is checked before any secret is sent. */
export async function connectSsh(target: SshTarget): Promise<SshResult> {
  const client = new ssh2.Client()
  let shown = ''
  const { promise, resolve } = Promise.withResolvers<SshResult>()
  const verify = (key: Buffer) => {
    shown = nameKey(key)
    return target.knownHostKey === null || target.knownHostKey === shown
  }
  client.on('ready', () => resolve({ ok: true, session: sessionOf(client, shown) }))
  client.on('error', error => {
    const changed = shown !== '' && target.knownHostKey !== null && shown !== target.knownHostKey
    resolve({ ok: false, message: changed ? changedKey(target, shown) : explain(target, error) })
  })
  client.on('close', () => resolve({ ok: false, message: `${target.host} closed the connection` }))
  client.on('keyboard-interactive', (_name, _about, _language, prompts, answer) => {
    answer(prompts.map(() => target.secret))
  })
  const config = configOf(target, verify)
  if (typeof config === 'string') return { ok: false, message: config }
  client.connect(config)
  const result = await promise
  if (!result.ok) client.destroy()
  return result
}

function configOf(target: SshTarget, verify: (key: Buffer) => boolean): ConnectConfig | string {
  const { host, port, username, secret, knownHostKey } = target
  const isKey = secret.startsWith('-----BEGIN')
  if (isKey) {
    const parsed = ssh2.utils.parseKey(`${secret}\n`)
    if (parsed instanceof Error) return 'The private key cannot be read. It must be one in PEM without a passphrase.'
  }
  return {
    host,
    port,
    username,
    hostVerifier: verify,
    readyTimeout: READY_MS,
    keepaliveInterval: 10_000,
    ...(isKey ? { privateKey: `${secret}\n` } : { password: secret, tryKeyboard: true }),
    // A machine has several keys: asking for the remembered kind keeps another kind from looking like a change.
    ...(knownHostKey ? { algorithms: { serverHostKey: algorithmsOf(knownHostKey) } } : {})
  }
}

function algorithmsOf(knownHostKey: string): ServerHostKeyAlgorithm[] {
  const kind = knownHostKey.split(' ')[0] ?? ''
  return (kind === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'] : [kind]) as ServerHostKeyAlgorithm[]
}

/** The key's kind is in its first field. */
function nameKey(key: Buffer): string {
  const length = key.readUInt32BE(0)
  return `${key.toString('latin1', 4, 4 + length)} ${key.toString('base64')}`
}

const fingerprint = (hostKey: string) =>
  `SHA256:${createHash('sha256')
    .update(Buffer.from(hostKey.split(' ')[1] ?? '', 'base64'))
    .digest('base64')
    .replace(/=+$/, '')}`

function changedKey({ host, knownHostKey }: SshTarget, shown: string): string {
  return `The SSH host key of ${host} has changed: it was ${fingerprint(knownHostKey ?? '')} and is ${fingerprint(shown)} now. Nothing was sent to it. If the machine was reinstalled, save the server with its host key forgotten.`
}

function explain({ host, port, username, knownHostKey }: SshTarget, error: Error & { level?: string }): string {
  if (error.level === 'client-authentication') return `${host} did not accept the password or key of ${username}`
  if (error.level === 'client-timeout') return `${host}:${port} did not answer within ${READY_MS / 1000} s`
  if (knownHostKey !== null && /no matching host key format/i.test(error.message)) {
    return `The SSH host key of ${host} has changed: it has none of the remembered kind any more. Nothing was sent to it. If the machine was reinstalled, save the server with its host key forgotten.`
  }
  return `No SSH connection to ${host}:${port}: ${error.message}`
}

function sessionOf(client: Client, hostKey: string): SshSession {
  // Whatever is under way fails by its own channel; an idle connection that breaks is noticed by the next command.
  client.on('error', () => {})
  return {
    hostKey,
    async run(command, { input, timeoutMs = COMMAND_MS } = {}) {
      const channel = await openChannel(client, command)
      const timer = setTimeout(() => client.destroy(), timeoutMs)
      try {
        const output = collect(channel)
        // Awaited below, after what it may fail before.
        output.catch(() => {})
        if (input === undefined) channel.end()
        else if (typeof input === 'string') channel.end(input)
        // A command that ends before it has read everything says why in its output.
        else await pipeline(input, channel.stdin).catch(() => {})
        return await output
      } finally {
        clearTimeout(timer)
      }
    },
    dial(port) {
      const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
      client.forwardOut('127.0.0.1', 0, '127.0.0.1', port, (error, channel) =>
        error ? reject(error) : resolve(channel)
      )
      return promise
    },
    close: () => client.end()
  }
}

function openChannel(client: Client, command: string): Promise<ClientChannel> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientChannel>()
  client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel)))
  return promise
}

function collect(channel: ClientChannel): Promise<SshOutput> {
  const { promise, resolve, reject } = Promise.withResolvers<SshOutput>()
  const texts = { stdout: '', stderr: '' }
  let code: number | null = null
  const take = (name: 'stdout' | 'stderr') => (part: Buffer) => {
    if (texts[name].length < LARGEST_OUTPUT) texts[name] += part.toString('utf8')
  }
  channel.on('data', take('stdout'))
  channel.stderr.on('data', take('stderr'))
  channel.on('exit', (status: number | null) => (code = status ?? -1))
  channel.on('error', reject)
  channel.on('close', () => {
    if (code === null) reject(new Error('The SSH connection broke, or the command took too long'))
    else resolve({ code, ...texts })
  })
  return promise
}

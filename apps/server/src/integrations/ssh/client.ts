import { createHash } from 'node:crypto'
import type { Duplex, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { fillIn, provisioningMessages, type ProvisioningCode } from '@netlet/contract'
import ssh2, { type Client, type ClientChannel, type ConnectConfig, type ServerHostKeyAlgorithm } from 'ssh2'
import { storableText } from '../../infra/text.ts'

export type SshTarget = {
  host: string
  port: number
  username: string
  /** A password, or a private key in PEM. */
  secret: string
  /** `SshSession.hostKey` of the first connection; null accepts any key. */
  knownHostKey: string | null
  /** The fingerprint ('SHA256:…') that an operator read on the machine, if no key is known yet. */
  fingerprint?: string | null
  /** Ends the attempt to connect. */
  signal?: AbortSignal
}

export type SshOutput = { code: number; stdout: string; stderr: string }

export type SshSession = {
  /** 'ssh-ed25519 AAAA…'. The caller stores it. */
  hostKey: string
  /**
   * Runs a command. Secrets belong in `input`, because other users of the machine can read the command.
   * @param options.signal ends the command and everything that it started
   * @throws Error if the connection breaks or the time is over; the signal's reason if it was aborted
   */
  run(
    command: string,
    options?: { input?: string | Readable; timeoutMs?: number; signal?: AbortSignal }
  ): Promise<SshOutput>
  /**
   * Connects from the machine to a port of its loopback, or of another address.
   * @throws Error if the machine does not connect in time; the signal's reason if it was aborted
   */
  dial(port: number, options?: { host?: string; timeoutMs?: number; signal?: AbortSignal }): Promise<Duplex>
  close(): void
}

/** `code`: why it failed, with the sentence's parameters. */
export type SshFailure = {
  ok: false
  code: ProvisioningCode
  params: Record<string, string | number>
  message: string
  /** The host key of the machine, if it is not the expected one. */
  shown?: string
}
export type SshResult = { ok: true; session: SshSession } | SshFailure

const failed = (code: ProvisioningCode, params: SshFailure['params'] = {}): SshFailure => ({
  ok: false,
  code,
  params,
  message: fillIn(provisioningMessages[code], params)
})

const READY_MS = 20_000
const COMMAND_MS = 60_000
const DIAL_MS = 20_000
const LARGEST_OUTPUT = 1024 * 1024

/** A machine has a key of each kind, and a fingerprint does not tell the kind. */
const KINDS: ServerHostKeyAlgorithm[][] = [
  ['ssh-ed25519'],
  ['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521'],
  ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa']
]

/** Connects and logs in. The host key is checked before any secret is sent. */
export async function connectSsh(target: SshTarget): Promise<SshResult> {
  if (target.knownHostKey !== null) return connectOnce(target, algorithmsOf(target.knownHostKey))
  if (!target.fingerprint) return connectOnce(target, null)
  let first: SshFailure | null = null
  for (const kind of KINDS) {
    const result = await connectOnce(target, kind)
    if (result.ok || (result.code !== 'ssh_key_unexpected' && result.code !== 'ssh_other_key')) return result
    if (result.shown !== undefined) first ??= result
  }
  return first ?? failed('ssh_other_key', { host: target.host })
}

/** @param kinds the kinds of host keys to request; null for any */
async function connectOnce(target: SshTarget, kinds: ServerHostKeyAlgorithm[] | null): Promise<SshResult> {
  const client = new ssh2.Client()
  let shown = ''
  const { promise, resolve } = Promise.withResolvers<SshResult>()
  const verify = (key: Buffer) => {
    shown = nameKey(key)
    return isExpected(target, shown)
  }
  // A command is a few small packets each way. With Nagle's algorithm it took 175 ms instead of 5.
  client.on('connect', () => client.setNoDelay(true))
  client.on('ready', () => resolve({ ok: true, session: sessionOf(client, shown) }))
  client.on('error', error => {
    const changed = shown !== '' && !isExpected(target, shown)
    resolve(changed ? changedKey(target, shown) : describeFailure(target, error, kinds !== null))
  })
  client.on('close', () => resolve(failed('ssh_closed', { host: target.host })))
  client.on('keyboard-interactive', (_name, _about, _language, prompts, answer) => {
    answer(prompts.map(() => target.secret))
  })
  const config = configOf(target, verify, kinds)
  if (config === null) return failed('key_unreadable')
  const abort = () => resolve(failed('ssh_ended'))
  target.signal?.addEventListener('abort', abort)
  if (target.signal?.aborted) abort()
  else client.connect(config)
  const result = await promise
  target.signal?.removeEventListener('abort', abort)
  if (!result.ok) client.destroy()
  return result
}

const isExpected = ({ knownHostKey, fingerprint }: SshTarget, shown: string): boolean =>
  knownHostKey === null ? !fingerprint || fingerprint === fingerprintOf(shown) : knownHostKey === shown

/** Null if the private key cannot be read. */
function configOf(
  target: SshTarget,
  verify: (key: Buffer) => boolean,
  kinds: ServerHostKeyAlgorithm[] | null
): ConnectConfig | null {
  const { host, port, username, secret } = target
  const key = isKey(secret) ? `${withLines(pemOf(secret))}\n` : null
  if (key !== null && !isReadable(key)) return null
  return {
    host,
    port,
    username,
    hostVerifier: verify,
    readyTimeout: READY_MS,
    keepaliveInterval: 10_000,
    ...(key !== null ? { privateKey: key } : { password: secret, tryKeyboard: true }),
    // A machine has several keys. Requesting the remembered kind keeps another kind from looking like a change.
    ...(kinds ? { algorithms: { serverHostKey: kinds } } : {})
  }
}

/** Is it meant as a private key? A possible key is never sent as a password, which has one line and no long base64. */
const isKey = (secret: string): boolean =>
  /[\r\n]|-----? ?BEGIN |PuTTY-User-Key-File|PRIVATE KEY|^[A-Za-z0-9+/=]{128,}$/.test(secret.trim())

/** The private key without what some tools write around it: attributes, comments, parameters, certificates. */
const pemOf = (text: string): string =>
  /-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?-----END \1-----/.exec(text)?.[0] ?? text

function isReadable(key: string): boolean {
  const parsed = ssh2.utils.parseKey(key)
  return !(parsed instanceof Error) && parsed.isPrivateKey()
}

/** Restores the line breaks that a one-line form field removes from a pasted key. */
const withLines = (key: string): string =>
  key.replace(
    /^(-----BEGIN [A-Z ]+-----)([A-Za-z0-9+/=\s]+)(-----END [A-Z ]+-----)\s*$/,
    (_, begin: string, body: string, end: string) =>
      [begin, ...(body.replaceAll(/\s/g, '').match(/.{1,64}/g) ?? []), end].join('\n')
  )

function algorithmsOf(knownHostKey: string): ServerHostKeyAlgorithm[] {
  const kind = knownHostKey.split(' ')[0] ?? ''
  return (kind === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'] : [kind]) as ServerHostKeyAlgorithm[]
}

/** The first field of a key is its kind. */
function nameKey(key: Buffer): string {
  const length = key.readUInt32BE(0)
  return `${key.toString('latin1', 4, 4 + length)} ${key.toString('base64')}`
}

/** As ssh prints it: 'SHA256:…'. */
export const fingerprintOf = (hostKey: string): string =>
  `SHA256:${createHash('sha256')
    .update(Buffer.from(hostKey.split(' ')[1] ?? '', 'base64'))
    .digest('base64')
    .replace(/=+$/, '')}`

function changedKey({ host, knownHostKey, fingerprint }: SshTarget, shown: string): SshFailure {
  const is = fingerprintOf(shown)
  return knownHostKey === null
    ? { ...failed('ssh_key_unexpected', { host, was: fingerprint ?? '', is }), shown }
    : { ...failed('ssh_key_changed', { host, was: fingerprintOf(knownHostKey), is }), shown }
}

function describeFailure(
  { host, port, username }: SshTarget,
  error: Error & { level?: string },
  asksForKinds: boolean
): SshFailure {
  if (error.level === 'client-authentication') return failed('ssh_refused', { host, username })
  if (error.level === 'client-timeout') return failed('ssh_timeout', { host, port, seconds: READY_MS / 1000 })
  if (asksForKinds && /no matching host key format/i.test(error.message)) return failed('ssh_other_key', { host })
  return failed('ssh_failed', { host, port, problem: storableText(error.message) })
}

function sessionOf(client: Client, hostKey: string): SshSession {
  // Running commands fail through their channels. The next command notices an idle connection that broke.
  client.on('error', () => {})
  return {
    hostKey,
    async run(command, { input, timeoutMs = COMMAND_MS, signal } = {}) {
      signal?.throwIfAborted()
      // The command leads a process group and prints the group's id first, so that we can end the group.
      const leads = signal !== undefined
      const beginning = begin(client, leads ? `echo $$ >&2; ${command}` : command, { leads })
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        client.destroy()
      }, timeoutMs)
      // After the end of the connection, the machine cannot be reached to end the command.
      const abort = () =>
        void endCommand(client, beginning)
          .catch(() => {})
          .finally(() => client.destroy())
      signal?.addEventListener('abort', abort)
      try {
        const { channel, output } = await beginning
        // Awaited below; the input may fail first.
        output.ended.catch(() => {})
        if (input === undefined) channel.end()
        else if (typeof input === 'string') channel.end(input)
        // A command that ends before it has read its input says why in its output.
        else await pipeline(input, channel.stdin).catch(() => {})
        const ended = await output.ended
        signal?.throwIfAborted()
        return ended
      } catch (error) {
        signal?.throwIfAborted()
        throw isLate ? new Error(BROKE) : error
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
      }
    },
    async dial(port, { host = '127.0.0.1', timeoutMs = DIAL_MS, signal } = {}) {
      signal?.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<Duplex>()
      let isOver = false
      const end = (reason: unknown) => {
        isOver = true
        reject(reason)
      }
      const timer = setTimeout(() => end(new Error(`No connection within ${timeoutMs / 1000} s`)), timeoutMs)
      const abort = () => end(signal?.reason)
      signal?.addEventListener('abort', abort)
      try {
        // It throws if the connection has ended.
        client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => {
          if (error) return reject(readable(error))
          resolve(channel)
          // It came too late for the caller.
          if (isOver) channel.destroy()
        })
        return await promise
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
      }
    },
    close: () => client.end()
  }
}

const BROKE = 'The SSH connection broke, or the command took too long'

type Begun = { channel: ClientChannel; output: Collected }

function begin(client: Client, command: string, options: { leads: boolean }): Promise<Begun> {
  const { promise, resolve, reject } = Promise.withResolvers<Begun>()
  client.exec(command, (error, channel) => {
    if (error) reject(readable(error))
    // At once, because a short command may send all output in the same packet.
    else resolve({ channel, output: collect(channel, options) })
  })
  return promise
}

/** The other side may have written the message. */
const readable = (error: Error): Error => new Error(storableText(error.message), { cause: error })

type Collected = { ended: Promise<SshOutput>; group: Promise<string | undefined> }

/** @param leads the first line on standard error is the process group's id, and not part of the output */
function collect(channel: ClientChannel, { leads }: { leads: boolean }): Collected {
  const { promise, resolve, reject } = Promise.withResolvers<SshOutput>()
  const texts = { stdout: '', stderr: '' }
  const group = Promise.withResolvers<string | undefined>()
  let code: number | null = null
  const take = (name: 'stdout' | 'stderr') => {
    // A character may be split over two parts.
    const decoder = new StringDecoder('utf8')
    return (part: Buffer) => {
      if (texts[name].length < LARGEST_OUTPUT) texts[name] += storableText(decoder.write(part))
      const first = /^(\d+)\n/.exec(texts.stderr)?.[1]
      if (first !== undefined) group.resolve(first)
    }
  }
  channel.on('data', take('stdout'))
  channel.stderr.on('data', take('stderr'))
  channel.on('exit', (status: number | null) => (code = status ?? -1))
  channel.on('error', (error: Error) => reject(readable(error)))
  channel.on('close', () => {
    const { stdout, stderr } = texts
    group.resolve(undefined)
    if (code === null) reject(new Error(BROKE))
    else resolve({ code, stdout, stderr: leads ? stderr.replace(/^\d+\n/, '') : stderr })
  })
  return { ended: promise, group: group.promise }
}

/** How long to wait for the beginning of a command that is being ended (ms). */
const BEGIN_MS = 500

/** Ends a command. One that the machine has not begun has no processes to end. */
async function endCommand(client: Client, beginning: Promise<Begun>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), BEGIN_MS)
  const begun = await Promise.race([beginning.catch(() => undefined), promise])
  clearTimeout(timer)
  if (begun) await endGroup(client, begun.output.group)
}

/** How long ending a command's processes may take (ms). */
const END_MS = 5_000

/** Ends a command's processes before its input ends, because they could take a partial file for a complete one. */
async function endGroup(client: Client, groupId: Promise<string | undefined>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), END_MS)
  // A command that has just begun may not have printed it yet.
  const group = await Promise.race([groupId, promise])
  const kill = (name: string) => `kill -s ${name} -- -${group} 2> /dev/null`
  if (group === undefined) resolve(undefined)
  else
    client.exec(`${kill('TERM')} && sleep 1 && ${kill('KILL')}; true`, (error, channel) => {
      if (error) return resolve(undefined)
      channel.on('close', () => resolve(undefined)).on('error', () => resolve(undefined))
      channel.resume()
      channel.stderr.resume()
    })
  await promise
  clearTimeout(timer)
}

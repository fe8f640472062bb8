import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { endOf, startOf } from '../../infra/text.ts'
import { fillIn, provisioningMessages, type ProvisioningCode, type ProvisioningSaid } from '@netlet/contract'
import type { SshOutput, SshSession } from '../../integrations/ssh/index.ts'
import { quote } from './layout.ts'

/** A step that failed, and why. It is caught where the step's name is known. */
export class StepFailed extends Error {
  override name = 'StepFailed'
  readonly said: ProvisioningSaid

  constructor(code: ProvisioningCode, params: ProvisioningSaid['params'] = {}) {
    super(fillIn(provisioningMessages[code], params))
    this.said = { code, params }
  }
}

/** The connection broke during a command. How far it got is unknown. */
export class ConnectionLost extends StepFailed {
  override name = 'ConnectionLost'
}

export type Content = { sha256: string; text?: string | Buffer; file?: string }

export const contentOf = (text: string | Buffer): Content => ({
  sha256: createHash('sha256').update(text).digest('hex'),
  text
})

const hashes = new Map<string, Promise<string>>()

/** For files that do not change while this process runs, such as its own runtime. Each is read once. */
export async function contentOfFile(file: string): Promise<Content> {
  const known = hashes.get(file) ?? hashFile(file)
  hashes.set(file, known)
  return { sha256: await known, file }
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

const UPLOAD_MS = 10 * 60_000

/** What can be done on a machine over SSH. Every call succeeds or throws the reason. */
export type Machine = ReturnType<typeof machineOf>

/** @param progress `print` gets each command and its output. Secrets travel on standard input, so it sees none. */
export function machineOf(
  session: SshSession,
  { print, signal }: { print: (text: string) => void; signal: AbortSignal }
) {
  const attempt = async (command: string, options?: Parameters<SshSession['run']>[1]): Promise<SshOutput> => {
    try {
      return await session.run(command, { ...options, signal })
    } catch (error) {
      signal.throwIfAborted()
      throw new ConnectionLost('machine_said', { output: error instanceof Error ? error.message : String(error) })
    }
  }

  /** @throws StepFailed with the output of a failed command */
  async function run(command: string, options?: Parameters<SshSession['run']>[1]): Promise<string> {
    const { code, stdout, stderr } = await attempt(command, options)
    print(`$ ${startOf(command, 300)}\n${endOf(stdout, 1500)}${endOf(stderr, 1500)}`)
    if (code === 0) return stdout
    const output = endOf(stderr.trim() || stdout.trim(), 1000)
    throw output ? new StepFailed('machine_said', { output }) : new StepFailed('command_ended', { code })
  }

  async function hashOf(path: string): Promise<string> {
    const { stdout } = await attempt(`sha256sum -- ${quote(path)}`)
    return stdout.slice(0, 64)
  }

  return {
    run,
    /** Like `run`, for commands that may fail. */
    attempt,
    /** Whether this file is already there, with any mode. */
    has: async (path: string, content: Content): Promise<boolean> => (await hashOf(path)) === content.sha256,
    dial: (port: number, host?: string) => session.dial(port, { ...(host === undefined ? {} : { host }), signal }),
    /**
     * Replaces a file in one step, with this mode.
     * @returns whether it changed
     */
    async put(path: string, mode: '600' | '644' | '755', content: Content): Promise<boolean> {
      if ((await hashOf(path)) === content.sha256) return false
      const fresh = quote(`${path}.new`)
      // If the upload breaks off, the old file stays until all of the new one has arrived.
      const finish = `case "$(sha256sum < ${fresh})" in ${content.sha256}*) chmod ${mode} ${fresh} && mv -f ${fresh} ${quote(path)};; *) echo 'The file arrived damaged or incomplete' >&2; false;; esac`
      const packed = content.file !== undefined
      const command = `mkdir -p ${quote(posix.dirname(path))} && umask 077 && ${packed ? 'gzip -dc' : 'cat'} > ${fresh} && ${finish} || { code=$?; rm -f ${fresh}; exit $code; }`
      const input = packed
        ? createReadStream(content.file ?? '').pipe(createGzip({ level: 1 }))
        : (content.text?.toString() ?? '')
      await run(command, { input, timeoutMs: UPLOAD_MS })
      if ((await hashOf(path)) !== content.sha256) throw new StepFailed('not_arrived', { path })
      return true
    }
  }
}

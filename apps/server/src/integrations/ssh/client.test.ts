import { generateKeyPairSync } from 'node:crypto'
import { EventEmitter, getEventListeners, once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import ssh2 from 'ssh2'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connectSsh, type SshSession, type SshTarget } from './client.ts'
import { sshdPath, startSshd } from './sshd.fixture.ts'
import { newHostKey } from './machine.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'
import { freePort } from '../../testing/free-ports.ts'

if (!sshdPath) console.warn('OpenSSH’s server is not installed here: its tests are skipped')

describe.skipIf(!sshdPath)('against OpenSSH', () => {
  const sshd = useStarted(() => startSshd())
  const target = (more: Partial<SshTarget> = {}): SshTarget => ({
    host: '127.0.0.1',
    port: sshd.port,
    username: sshd.username,
    secret: sshd.key.trim(),
    knownHostKey: null,
    ...more
  })

  test('commands run, read input, and report how they ended', async () => {
    const connected = await connectSsh(target())
    if (!connected.ok) throw new Error(connected.message)
    const { session } = connected
    expect(session.hostKey).toMatch(/^ssh-ed25519 AAAA/)
    expect(await session.run('tr a-z A-Z', { input: 'quiet' })).toEqual({ code: 0, stdout: 'QUIET', stderr: '' })
    expect(await session.run('echo no >&2; exit 3')).toEqual({ code: 3, stdout: '', stderr: 'no\n' })
    await expect(session.run('sleep 60', { timeoutMs: 200 })).rejects.toThrow('took too long')
    session.close()
  })

  test('the remembered host key is accepted; another one is refused before anything is sent', async () => {
    const first = await connectSsh(target())
    if (!first.ok) throw new Error(first.message)
    first.session.close()
    const again = await connectSsh(target({ knownHostKey: first.session.hostKey }))
    expect(again.ok).toBe(true)
    if (again.ok) again.session.close()
    const other = first.session.hostKey.replace(/.{8}$/, 'AAAAAAAA')
    expect(await connectSsh(target({ knownHostKey: other }))).toMatchObject({
      ok: false,
      code: 'ssh_key_changed',
      message: expect.stringContaining('The SSH host key of 127.0.0.1 has changed') as string
    })
    expect(await connectSsh(target({ knownHostKey: 'ecdsa-sha2-nistp256 AAAA' }))).toMatchObject({
      ok: false,
      code: 'ssh_other_key',
      message: expect.stringContaining('has changed') as string
    })
  })

  test('a key is accepted without its line breaks, which a one-line field removes', async () => {
    const connected = await connectSsh(target({ secret: sshd.key.replaceAll('\n', '') }))
    if (!connected.ok) throw new Error(connected.message)
    connected.session.close()
  })

  test('a refused login and an invalid key are reported', async () => {
    expect(await connectSsh(target({ secret: sshd.strangeKey }))).toMatchObject({
      ok: false,
      code: 'ssh_refused',
      message: `127.0.0.1 did not accept the password or key of ${sshd.username}.`
    })
    expect(await connectSsh(target({ secret: '-----BEGIN nothing' }))).toMatchObject({
      ok: false,
      message: expect.stringContaining('cannot be read') as string
    })
  })

  test('a closed port is reported', async () => {
    const port = await freePort()
    expect(await connectSsh(target({ port }))).toMatchObject({
      ok: false,
      message: expect.stringContaining(`No SSH connection to 127.0.0.1:${port}`) as string
    })
  })
})

/** An SSH server on loopback. @param take handles each client */
async function startServer(take: (client: ssh2.Connection) => void) {
  const server = new ssh2.Server({ hostKeys: [newHostKey()] }, client => {
    client.on('error', () => {})
    take(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() }
}

describe('passwords', () => {
  const asked: string[] = []
  let givenPassword = ''
  const server = useStarted(() =>
    startServer(client => {
      client.on('authentication', context => {
        asked.push(context.method)
        if (context.method === 'password') givenPassword = context.password
        if (context.method !== 'keyboard-interactive') return context.reject(['password', 'keyboard-interactive'])
        context.prompt([{ prompt: 'Password: ', echo: false }], answers => {
          if (answers[0] === 'root secret') context.accept()
          else context.reject()
        })
      })
    })
  )
  const connect = (secret: string, knownHostKey: string | null = null) =>
    connectSsh({ host: '127.0.0.1', port: server.port, username: 'root', secret, knownHostKey })

  test('are sent as such, and as the reply to a prompt', async () => {
    const connected = await connect('root secret')
    expect(connected.ok).toBe(true)
    if (connected.ok) connected.session.close()
    expect(givenPassword).toBe('root secret')
    expect(asked).toContain('keyboard-interactive')
    expect((await connect('wrong')).ok).toBe(false)
  })

  const pem = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'pkcs1', format: 'pem' }
  }).privateKey.trim()

  test.each([
    ['bag attributes before it', `Bag Attributes\n  friendlyName: me\n${pem}`],
    ['a comment before it', `# my key\n${pem}`],
    ['quotes around it', `"${pem}"`],
    ['a comment and no line breaks', `# my key ${pem.replaceAll('\n', ' ')}`]
  ])('a private key with %s is used as a key, never sent as a password', async (_, secret) => {
    ;[asked.length, givenPassword] = [0, '']
    const connected = await connect(secret)
    expect(connected).toMatchObject({ ok: false, message: expect.stringContaining('did not accept') as string })
    expect(asked).toContain('publickey')
    expect(givenPassword).toBe('')
  })

  test.each([
    ['PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\nSECRET\nPrivate-MAC: 00'],
    ['SSH2', '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nAAAA\n---- END SSH2 ENCRYPTED PRIVATE KEY ----'],
    ['escaped line breaks', pem.replaceAll('\n', '\\n')],
    ['no header', pem.split('\n').slice(1, -1).join('')],
    ['several lines and no header', pem.split('\n').slice(1, -1).join('\n')],
    ['half a key', pem.slice(20)],
    ['a public key', ssh2.utils.generateKeyPairSync('ed25519').public.concat('\n# mine')]
  ])('a private key that cannot be read is sent nowhere: %s', async (_, secret) => {
    ;[asked.length, givenPassword] = [0, '']
    const connected = await connect(secret)
    expect(connected).toMatchObject({ ok: false, message: expect.stringContaining('cannot be read') as string })
    expect([asked, givenPassword]).toEqual([[], ''])
  })

  test('are never sent to a machine whose host key has changed', async () => {
    asked.length = 0
    const knownHostKey = `ssh-ed25519 ${Buffer.alloc(51).toString('base64')}`
    expect((await connect('root secret', knownHostKey)).ok).toBe(false)
    expect(asked).toEqual([])
  })
})

async function logIn({ port }: { port: number }): Promise<SshSession> {
  const target = { host: '127.0.0.1', port, username: 'root', secret: 'root secret', knownHostKey: null }
  const connected = await connectSsh(target)
  if (!connected.ok) throw new Error(connected.message)
  return connected.session
}

describe('a machine that accepts the login and then falls silent', () => {
  const asked = new EventEmitter()
  const server = useStarted(() =>
    startServer(client => {
      client.on('authentication', context => context.accept())
      client.on('session', accept => accept().on('exec', () => asked.emit('exec')))
      client.on('tcpip', () => asked.emit('tcpip'))
    })
  )

  const login = async () => {
    const session = await logIn(server)
    onTestFinished(() => session.close())
    return session
  }

  test('a command and a connection fail after their timeout, with a message', { timeout: 10_000 }, async () => {
    const session = await login()
    await expect(session.dial(22, { timeoutMs: 100 })).rejects.toThrow('No connection within 0.1 s')
    await expect(session.run('true', { timeoutMs: 100 })).rejects.toThrow('took too long')
  })

  test.each([
    ['exec', 'a command', (session: SshSession, signal: AbortSignal) => session.run('true', { signal })],
    ['tcpip', 'a connection from there', (session: SshSession, signal: AbortSignal) => session.dial(22, { signal })]
  ])('%s: %s ends when it is cancelled', { timeout: 10_000 }, async (event, _what, begin) => {
    const session = await login()
    const cancel = new AbortController()
    const seen = once(asked, event)
    const ended = expect(begin(session, cancel.signal)).rejects.toThrow('cancelled here')
    await seen
    cancel.abort(new Error('cancelled here'))
    await ended
  })
})

describe('a machine that closes the connection', () => {
  const server = useStarted(() =>
    startServer(client => {
      client.on('authentication', context => context.accept())
      client.on('session', accept => {
        accept().on('exec', (begin, _reject, { command }) => {
          const channel = begin()
          if (command === 'true') {
            channel.exit(0)
            channel.end()
          }
          // A process id of a group leader that does not end.
          else channel.stderr.write('4711\n')
        })
      })
    })
  )

  test('a connection through it fails at once, and nothing keeps waiting for it', async () => {
    const session = await logIn(server)
    const { signal } = new AbortController()
    session.close()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await expect(session.dial(22, { signal })).rejects.toThrow('Not connected')
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('only a cancelled command fails', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const session = await logIn(server)
    const cancel = new AbortController()
    const ended = expect(session.run('cat', { input: new PassThrough(), signal: cancel.signal })).rejects.toThrow(
      'cancelled here'
    )
    // The earlier output, such as the process group's id, has arrived now.
    await session.run('true')
    session.close()
    cancel.abort(new Error('cancelled here'))
    await ended
    expect(unhandled).toEqual([])
  })
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import ssh2, { type ServerChannel } from 'ssh2'

export type TestMachine = { port: number; commands: string[]; close: () => void }

/** A machine whose SSH server accepts any login and answers commands as the test specifies, without running them. */
export async function startTestMachine(options: {
  /** Called before a login is accepted. */
  onLogin?: () => Promise<void> | void
  answer?: (command: string) => Promise<Output> | Output
  /** Runs the commands on this machine, as the user of the tests. */
  shell?: boolean
  /** With `shell`: does it forward ports? */
  forwards?: () => boolean
  /** With `shell`: replaces the command; null closes the connection. */
  replace?: (command: string) => Promise<string | null> | string | null
}): Promise<TestMachine> {
  const commands: string[] = []
  const hostKey = newHostKey()
  const clients = new Set<ssh2.Connection>()
  const ssh = new ssh2.Server({ hostKeys: [hostKey] }, client => {
    clients.add(client)
    client.on('error', () => {})
    client.on('authentication', context => {
      void Promise.resolve(options.onLogin?.()).then(() => context.accept())
    })
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      if (!options.shell || options.forwards?.() === false) return reject()
      const socket = connect(destPort, destIP)
      socket.on('error', () => reject())
      socket.on('connect', () => {
        const channel = accept()
        channel.on('error', () => {})
        socket.removeAllListeners('error').on('error', () => channel.destroy())
        channel.pipe(socket).pipe(channel)
      })
    })
    client.on('session', accept => {
      accept().on('exec', (begin, _reject, { command }) => {
        commands.push(command)
        const channel = begin()
        if (options.shell) {
          void Promise.resolve(options.replace ? options.replace(command) : command).then(real =>
            real === null ? client.end() : runInShell(real, channel)
          )
          return
        }
        channel.resume()
        const reply = async () => {
          const { stdout = '', stderr = '', code = 0 } = (await options.answer?.(command)) ?? {}
          // Cancellable commands print the process group's id first.
          if (command.startsWith('echo $$')) channel.stderr.write('1\n')
          channel.stderr.write(stderr)
          channel.write(stdout)
          channel.exit(code)
          channel.end()
        }
        void reply()
      })
    })
  })
  // sshd also sends without delay.
  const server = createServer({ noDelay: true }, socket => ssh.injectSocket(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    close() {
      for (const client of clients) client.end()
      server.close()
    }
  }
}

/** The library writes some of its keys in a form that it cannot read. */
export function newHostKey(): string {
  for (;;) {
    const { private: key } = ssh2.utils.generateKeyPairSync('ed25519')
    if (!(ssh2.utils.parseKey(key) instanceof Error)) return key
  }
}

type Output = { stdout?: string | Buffer; stderr?: string | Buffer; code?: number }

/** As in sshd: a separate process group, with the login's origin in the environment. */
function runInShell(command: string, channel: ServerChannel): void {
  const env = { PATH: process.env['PATH'] ?? '', SSH_CONNECTION: '198.51.100.9 50000 127.0.0.1 22' }
  const child = spawn('sh', ['-c', command], { detached: true, stdio: ['pipe', 'pipe', 'pipe'], env })
  channel.on('error', () => {})
  child.stdin.on('error', () => {})
  channel.pipe(child.stdin)
  child.stdout.on('data', (data: Buffer) => channel.write(data))
  child.stderr.on('data', (data: Buffer) => channel.stderr.write(data))
  // Background processes keep the pipes open, so the command ends with its shell.
  child.on('exit', code =>
    setImmediate(() => {
      channel.exit(code ?? 1)
      channel.end()
    })
  )
}

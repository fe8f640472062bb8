import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import ssh2 from 'ssh2'

export type TestMachine = { port: number; commands: string[]; close: () => void }

/** A machine whose SSH server takes any log-in and answers each command as the test wants; it runs nothing. */
export async function startTestMachine(options: {
  /** Called before a log-in is taken. */
  onLogin?: () => Promise<void> | void
  answer?: (command: string) => Promise<Output> | Output
}): Promise<TestMachine> {
  const commands: string[] = []
  const hostKey = ssh2.utils.generateKeyPairSync('ed25519').private
  const clients = new Set<ssh2.Connection>()
  const server = new ssh2.Server({ hostKeys: [hostKey] }, client => {
    clients.add(client)
    client.on('error', () => {})
    client.on('authentication', context => {
      void Promise.resolve(options.onLogin?.()).then(() => context.accept())
    })
    client.on('session', accept => {
      accept().on('exec', (begin, _reject, { command }) => {
        commands.push(command)
        const channel = begin()
        channel.resume()
        const reply = async () => {
          const { stdout = '', stderr = '', code = 0 } = (await options.answer?.(command)) ?? {}
          // The process group's number, which commands that can be ended tell first.
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

type Output = { stdout?: string | Buffer; stderr?: string | Buffer; code?: number }

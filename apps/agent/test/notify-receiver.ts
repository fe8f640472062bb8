import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { onEnd, tempFolder, until } from './test-agent.ts'

/** Receives datagrams on a Unix socket, as systemd does. It runs Perl, because Node has no Unix datagram sockets. */
export async function notifyReceiver(): Promise<{ path: string; heard: () => string[] }> {
  const path = join(await tempFolder(), 'notify')
  const script = `use IO::Socket::UNIX; $| = 1; my $s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die; print "ready\\n"; while (defined $s->recv(my $m, 4096)) { print "$m\\n" }`
  const child = spawn('perl', ['-e', script, path], { stdio: ['ignore', 'pipe', 'ignore'] })
  onEnd(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', data => (said += String(data)))
  await until('the receiver', () => said.includes('ready'))
  return { path, heard: () => said.split('\n').filter(line => line !== '') }
}

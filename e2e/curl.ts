import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Fetches `url` through a proxy with curl, like a customer. */
export async function curl(proxy: string, url: string): Promise<{ status: number; body: string }> {
  const { stdout } = await run('curl', ['-sS', '-m', '15', '-w', '\n%{http_code}', '-x', proxy, url])
  const at = stdout.lastIndexOf('\n')
  return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) }
}

/** 'ip:port:user:password' as a URL for curl. */
export function proxyUrl(line: string, password?: string): string {
  const [ip = '', port = '', user = '', secret = ''] = line.split(':')
  return `http://${user}:${password ?? secret}@${ip}:${port}`
}

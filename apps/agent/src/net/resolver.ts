import { Resolver as DnsResolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'

export type Resolved = { ok: true; addresses: string[] } | { ok: false; reason: 'not-found' | 'timeout' }

/** Finds the addresses of a name in one family. Calls back at once where the answer is known. */
export type Resolve = (name: string, family: 4 | 6, answer: (resolved: Resolved) => void) => void

type Cached = { until: number; resolved: Resolved }

const maxCached = 20_000
const longest = 300
const failureSeconds = 5

function readHosts(): Map<string, string[]> {
  const names = new Map<string, string[]>()
  const path = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    // A machine without a hosts file has no local names.
  }
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const alias of aliases) names.set(alias.toLowerCase(), [...(names.get(alias.toLowerCase()) ?? []), address])
  }
  return names
}

/**
 * The resolver of the running agent: the hosts file, then DNS with its TTLs in a bounded cache, one question at a time
 * for a name. DNS is asked without the thread pool that getaddrinfo needs: names that never answer would otherwise block
 * the writing of the state. `localhost` is always answered locally.
 */
export class CachingResolver {
  readonly #cache = new Map<string, Cached>()
  readonly #asked = new Map<string, Array<(resolved: Resolved) => void>>()
  #dns = new DnsResolver({ timeout: 2000, tries: 2 })
  #hosts = readHosts()

  /** Forgets everything and reads the system's configuration again. */
  reload(): void {
    this.#cache.clear()
    this.#dns = new DnsResolver({ timeout: 2000, tries: 2 })
    this.#hosts = readHosts()
  }

  resolve: Resolve = (name, family, answer) => {
    const local = this.#hosts.get(name)?.filter(address => isIP(address) === family)
    if (local !== undefined && local.length > 0) return answer({ ok: true, addresses: local })
    if (name === 'localhost' || name.endsWith('.localhost')) {
      return answer({ ok: true, addresses: [family === 4 ? '127.0.0.1' : '::1'] })
    }
    const key = `${family} ${name}`
    const cached = this.#cache.get(key)
    if (cached !== undefined && cached.until > performance.now()) return answer(cached.resolved)
    const waiting = this.#asked.get(key)
    if (waiting !== undefined) {
      waiting.push(answer)
      return
    }
    this.#asked.set(key, [answer])
    void this.#remember(key, name, family)
  }

  async #remember(key: string, name: string, family: 4 | 6): Promise<void> {
    const { resolved, seconds } = await this.#ask(name, family)
    if (this.#cache.size >= maxCached) this.#cache.delete(this.#cache.keys().next().value ?? key)
    this.#cache.set(key, { until: performance.now() + seconds * 1000, resolved })
    const answers = this.#asked.get(key) ?? []
    this.#asked.delete(key)
    for (const each of answers) each(resolved)
  }

  async #ask(name: string, family: 4 | 6): Promise<{ resolved: Resolved; seconds: number }> {
    try {
      const records = await (family === 4
        ? this.#dns.resolve4(name, { ttl: true })
        : this.#dns.resolve6(name, { ttl: true }))
      const seconds = Math.max(1, Math.min(longest, ...records.map(record => record.ttl)))
      return { resolved: { ok: true, addresses: records.map(record => record.address) }, seconds }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      const slow = code === 'ETIMEOUT' || code === 'ECANCELLED'
      return { resolved: { ok: false, reason: slow ? 'timeout' : 'not-found' }, seconds: failureSeconds }
    }
  }
}

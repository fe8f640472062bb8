import { Resolver as DnsResolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { nextTurn } from '../turns.ts'

export type Resolved = { ok: true; addresses: string[] } | { ok: false; reason: 'not-found' | 'timeout' }

/** Finds the addresses of a name in one family. Calls back at once where the answer is known. */
export type Resolve = (name: string, family: 4 | 6, answer: (resolved: Resolved) => void) => void

const MAX_CACHED = 20_000
const MAX_TTL_SECONDS = 300
const FAILURE_TTL_SECONDS = 5
/** Who waited for one answer goes on in turns of so many: each of them opens a connection. */
const ANSWERS_A_TURN = 16
/** Answers all the same, or questions that nobody could answer. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY'])

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
  readonly #cache = new LRUCache<string, Resolved>({ max: MAX_CACHED })
  readonly #pending = new Map<string, Array<(resolved: Resolved) => void>>()
  #dns = new DnsResolver({ timeout: 2000, tries: 2 })
  #hosts = readHosts()
  /** Questions to name servers, those that got no usable answer, and the time of all of them. */
  readonly figures = { lookups: 0, failures: 0, milliseconds: 0 }

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
    if (cached !== undefined) return answer(cached)
    const waiting = this.#pending.get(key)
    if (waiting !== undefined) {
      waiting.push(answer)
      return
    }
    this.#pending.set(key, [answer])
    void this.#resolveAndCache(key, name, family)
  }

  async #resolveAndCache(key: string, name: string, family: 4 | 6): Promise<void> {
    const { resolved, seconds } = await this.#query(name, family)
    this.#cache.set(key, resolved, { ttl: seconds * 1000 })
    const answers = this.#pending.get(key) ?? []
    this.#pending.delete(key)
    for (const [at, each] of answers.entries()) {
      if (at > 0 && at % ANSWERS_A_TURN === 0) await nextTurn()
      each(resolved)
    }
  }

  async #query(name: string, family: 4 | 6): Promise<{ resolved: Resolved; seconds: number }> {
    const began = performance.now()
    this.figures.lookups++
    try {
      const records = await (family === 4
        ? this.#dns.resolve4(name, { ttl: true })
        : this.#dns.resolve6(name, { ttl: true }))
      const seconds = Math.max(1, Math.min(MAX_TTL_SECONDS, ...records.map(record => record.ttl)))
      return { resolved: { ok: true, addresses: records.map(record => record.address) }, seconds }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (!NO_SUCH_NAME.has(code ?? '')) this.figures.failures++
      const slow = code === 'ETIMEOUT' || code === 'ECANCELLED'
      return { resolved: { ok: false, reason: slow ? 'timeout' : 'not-found' }, seconds: FAILURE_TTL_SECONDS }
    } finally {
      this.figures.milliseconds += performance.now() - began
    }
  }
}

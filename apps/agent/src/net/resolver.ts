import { randomBytes } from 'node:crypto'
import { Resolver as DnsResolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { DnsFigures } from '../proxy/plane-figures.ts'
import { nextTurn } from '../turns.ts'
import { LookupTurns } from './lookup-turns.ts'

export type Resolved = { ok: true; addresses: string[] } | { ok: false; reason: 'not-found' | 'timeout' }

/**
 * Finds the addresses of a name in one family, for a user: the first 64 of them. Calls back at once where the answer is known,
 * or where too many names of the user wait already (`timeout`).
 */
export type Resolve = (name: string, family: 4 | 6, answer: (resolved: Resolved) => void, user: string) => void

type Question = {
  key: string
  name: string
  family: 4 | 6
  answers: Array<(resolved: Resolved) => void>
  /** Before, it waits in the lines of those who need it, once in each. */
  isAsked: boolean
  users: Set<string>
  /** When somebody needed it last. */
  neededAt: number
}

/** An answer may have thousands: what they cost is bounded by what is used, which is far less. */
const MAX_ADDRESSES = 64
const MAX_CACHED = 20_000
/** About what answers take in memory; those that came first go where there are more. */
const MAX_CACHED_BYTES = 16_000_000
const BYTES_OF_ANSWER = 256
const BYTES_OF_ADDRESS = 32
const MAX_TTL_SECONDS = 300
const FAILURE_TTL_SECONDS = 5
/** Clients do not wait longer for a name's turn. To ask for them all the same would let those wait that come next. */
const MAX_WAIT_MS = 10_000
/** Who waited for one answer goes on in turns of so many: each of them opens a connection. */
const ANSWERS_A_TURN = 16
/** Answers all the same, or questions that nobody could answer. */
const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY'])

/** Where the agent asks for names that nobody has: two domains of different operators, in which every name server finds its way. */
const OWN_QUESTIONS = ['com', 'org'] as const
/** So many of these in a row without an answer say that name servers answer nobody. */
const UNANSWERED = 2

/** Which name servers are asked (none: the system's), for how long each time, and how long it is to the agent's next own question. Milliseconds. */
export type NameServers = { servers?: readonly string[]; timeout: number; tries: number; againMs: number }
const systemServers: NameServers = { timeout: 2000, tries: 2, againMs: 5000 }

function openDns({ servers, timeout, tries }: NameServers): DnsResolver {
  const dns = new DnsResolver({ timeout, tries })
  if (servers !== undefined) dns.setServers(servers)
  return dns
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

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

/** Answers by their questions. @param maxSize about how many bytes they take at most */
export const answerCache = (maxSize: number): LRUCache<string, Resolved> =>
  new LRUCache({
    max: MAX_CACHED,
    maxSize,
    sizeCalculation: (answer, key) =>
      BYTES_OF_ANSWER +
      key.length +
      (answer.ok ? answer.addresses : []).join('').length +
      countOf(answer) * BYTES_OF_ADDRESS
  })
const countOf = (answer: Resolved): number => (answer.ok ? answer.addresses.length : 0)

/**
 * The resolver of the running agent: the hosts file, then DNS with its TTLs in a bounded cache, one question at a time
 * for a name, and users by turns. DNS is asked without the thread pool that getaddrinfo needs: names that never answer would otherwise block
 * the writing of the state. `localhost` is always answered locally.
 */
export class CachingResolver {
  readonly #cache = answerCache(MAX_CACHED_BYTES)
  readonly #pending = new Map<string, Question>()
  readonly #turns = new LookupTurns()
  readonly #nameServers: NameServers
  #dns: DnsResolver
  #hosts = readHosts()
  /** See `DnsFigures`. */
  readonly figures: DnsFigures = { lookups: 0, failures: 0, milliseconds: 0, failing: 0 }
  #isAskingItself = false
  #nextOwnQuestion = -Infinity
  #closed = false

  constructor(nameServers: NameServers = systemServers) {
    this.#nameServers = nameServers
    this.#dns = openDns(nameServers)
  }

  /** Forgets everything and reads the system's configuration again. */
  reload(): void {
    this.#cache.clear()
    this.#dns = openDns(this.#nameServers)
    this.#hosts = readHosts()
  }

  /** Asks nothing more by itself. */
  close(): void {
    this.#closed = true
  }

  resolve: Resolve = (name, family, answer, user) => {
    const local = this.#hosts.get(name)?.filter(address => isIP(address) === family)
    if (local !== undefined && local.length > 0) return answer({ ok: true, addresses: local })
    if (name === 'localhost' || name.endsWith('.localhost')) {
      return answer({ ok: true, addresses: [family === 4 ? '127.0.0.1' : '::1'] })
    }
    const key = `${family} ${name}`
    const cached = this.#cache.get(key)
    if (cached !== undefined) return answer(cached)
    const question = this.#pending.get(key) ?? {
      key,
      name,
      family,
      answers: [],
      isAsked: false,
      users: new Set(),
      neededAt: 0
    }
    // Also where it waits for another user already, who may have to wait longer.
    const isNew = !question.isAsked && !question.users.has(user)
    if (isNew && !this.#turns.hasRoom(user)) return answer({ ok: false, reason: 'timeout' })
    question.answers.push(answer)
    question.neededAt = performance.now()
    this.#pending.set(key, question)
    if (!isNew) return
    question.users.add(user)
    this.#turns.add(user, answered => {
      if (question.isAsked) return false
      question.isAsked = true
      const isLate = performance.now() - question.neededAt > MAX_WAIT_MS
      void (isLate ? this.#giveUp(question) : this.#ask(question, answered))
      return !isLate
    })
  }

  async #giveUp(question: Question): Promise<void> {
    this.#pending.delete(question.key)
    await nextTurn()
    await answerAll(question.answers, { ok: false, reason: 'timeout' })
  }

  async #ask(question: Question, answered: (excess: number) => void): Promise<void> {
    const { resolved, seconds, excess } = await this.#query(question.name, question.family)
    this.#cache.set(question.key, resolved, { ttl: seconds * 1000 })
    this.#pending.delete(question.key)
    answered(excess)
    await answerAll(question.answers, resolved)
  }

  async #query(name: string, family: 4 | 6): Promise<{ resolved: Resolved; seconds: number; excess: number }> {
    const began = performance.now()
    this.figures.lookups++
    try {
      const all = await (family === 4
        ? this.#dns.resolve4(name, { ttl: true })
        : this.#dns.resolve6(name, { ttl: true }))
      const records = all.slice(0, MAX_ADDRESSES)
      const excess = all.length - records.length
      const seconds = Math.max(1, Math.min(MAX_TTL_SECONDS, ...records.map(record => record.ttl)))
      return { resolved: { ok: true, addresses: records.map(record => record.address) }, seconds, excess }
    } catch (error) {
      const code = codeOf(error)
      if (!NO_SUCH_NAME.has(code)) {
        this.figures.failures++
        void this.#judgeServers()
      }
      const slow = code === 'ETIMEOUT' || code === 'ECANCELLED'
      const reason = slow ? 'timeout' : 'not-found'
      return { resolved: { ok: false, reason }, seconds: FAILURE_TTL_SECONDS, excess: 0 }
    } finally {
      this.figures.milliseconds += performance.now() - began
    }
  }

  /**
   * Finds out whether name servers answer at all. What customers ask for does not tell: whose zones are silent can make most
   * questions fail, however many zones and customers are compared. So it asks for names that nobody else has a say in, and that no
   * cache has, until one is answered; each time those that the machine has by then.
   */
  async #judgeServers(): Promise<void> {
    if (this.#isAskingItself || performance.now() < this.#nextOwnQuestion) return
    this.#isAskingItself = true
    for (let unanswered = 0; !this.#closed && !(await this.#isAnswered(unanswered));) {
      unanswered++
      // The machine may have others by now.
      this.#dns = openDns(this.#nameServers)
      if (unanswered < UNANSWERED) continue
      this.figures.failing = 1
      await sleep(this.#nameServers.againMs, undefined, { ref: false })
    }
    this.figures.failing = 0
    this.#isAskingItself = false
    this.#nextOwnQuestion = performance.now() + this.#nameServers.againMs
  }

  async #isAnswered(n: number): Promise<boolean> {
    const domain = OWN_QUESTIONS[n % OWN_QUESTIONS.length]
    try {
      await this.#dns.resolve4(`${randomBytes(10).toString('hex')}.${domain}`)
      return true
    } catch (error) {
      return NO_SUCH_NAME.has(codeOf(error))
    }
  }
}

async function answerAll(answers: Question['answers'], resolved: Resolved): Promise<void> {
  for (const [at, answer] of answers.entries()) {
    if (at > 0 && at % ANSWERS_A_TURN === 0) await nextTurn()
    answer(resolved)
  }
}

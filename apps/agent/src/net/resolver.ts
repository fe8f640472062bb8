import { randomBytes } from 'node:crypto'
import { Resolver as DnsResolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { DnsFigures } from '../proxy/plane-figures.ts'
import { nextTurn } from '../turns.ts'

/** Names asked for at once: of one user, and of all users. */
const AT_ONCE = 32
const ALL_AT_ONCE = 128
/** A user gets these even if others hold all places: names without an answer hold theirs for seconds. */
const AT_LEAST = 4
/** Waiting names of one user. Further names are not asked for. */
const MAX_WAITING = 1000
/** How long an answer delays its user's next question, for each address beyond the limit. */
const DELAY_MS = 1
const MAX_DELAY_MS = 60_000

/**
 * Asks name servers. It calls back before anyone uses the answer, with the number of addresses beyond the limit.
 * @returns false if the answer is not needed any more, so nothing was asked
 */
type Ask = (answered: (excess: number) => void) => boolean

type Line = { user: string; waiting: Ask[]; asking: number; delayedUntil: number; timer: NodeJS.Timeout | undefined }

/**
 * Shares questions to name servers among users. Parsing the largest answer (64 KB) blocks the loop for about 50 ms and cannot
 * be split. So only few questions run at once, users take turns, and large answers delay their user.
 */
export class LookupTurns {
  readonly #lines = new Map<string, Line>()
  /** Lines that may ask, the next one first. */
  readonly #ready = new Set<Line>()
  #asking = 0

  hasRoom(user: string): boolean {
    return (this.#lines.get(user)?.waiting.length ?? 0) < MAX_WAITING
  }

  /** Asks now or later. It may call `ask` at once; `ask` must not call back synchronously. */
  add(user: string, ask: Ask): void {
    const line = this.#lines.get(user) ?? { user, waiting: [], asking: 0, delayedUntil: 0, timer: undefined }
    this.#lines.set(user, line)
    line.waiting.push(ask)
    this.#next(line)
  }

  #next(line: Line): void {
    this.#place(line)
    for (const ready of this.#ready) {
      if (this.#asking >= ALL_AT_ONCE) break
      this.#step(ready)
    }
    while (this.#ready.has(line) && line.asking < AT_LEAST) this.#step(line)
  }

  /** Puts the line behind the others that may ask, if it is not among them. Or it rests, or is removed once empty. */
  #place(line: Line): void {
    const delay = line.delayedUntil - performance.now()
    if (delay > 0) {
      this.#ready.delete(line)
      line.timer ??= setTimeout(() => {
        line.timer = undefined
        this.#next(line)
      }, Math.ceil(delay)).unref()
    } else if (line.waiting.length > 0 && line.asking < AT_ONCE) this.#ready.add(line)
    else if (line.waiting.length === 0 && line.asking === 0) this.#lines.delete(line.user)
  }

  #step(line: Line): void {
    this.#ready.delete(line)
    if (line.waiting.shift()?.(excess => this.#answered(line, excess)) === true) {
      line.asking++
      this.#asking++
    }
    this.#place(line)
  }

  #answered(line: Line, excess: number): void {
    line.asking--
    this.#asking--
    const now = performance.now()
    line.delayedUntil = Math.min(Math.max(now, line.delayedUntil) + excess * DELAY_MS, now + MAX_DELAY_MS)
    this.#next(line)
  }
}

export type Resolved = { ok: true; addresses: string[] } | { ok: false; reason: 'not-found' | 'timeout' }

/**
 * Resolves a name in one family for a user, to at most 64 addresses. It calls back synchronously if the answer is known, or if
 * too many names of the user wait already (`timeout`).
 */
export type Resolve = (name: string, family: 4 | 6, answer: (resolved: Resolved) => void, user: string) => void

type Question = {
  key: string
  name: string
  family: 4 | 6
  answers: Array<(resolved: Resolved) => void>
  /** Until it is asked it waits in the line of each user who needs it, once in each. */
  isAsked: boolean
  users: Set<string>
  /** When it was last needed. */
  neededAt: number
}

/** Connections use few of the thousands that an answer may have, so only these are kept and judged. */
const MAX_ADDRESSES = 64
const MAX_CACHED = 20_000
/** Approximate memory of cached answers. The oldest are dropped first. */
const MAX_CACHED_BYTES = 16_000_000
const BYTES_OF_ANSWER = 256
const BYTES_OF_ADDRESS = 32
const MAX_TTL_SECONDS = 300
const FAILURE_TTL_SECONDS = 5
/** Clients do not wait longer for a name's turn. Asking for it later would only delay the next names. */
const MAX_WAIT_MS = 10_000
/** Callers that one turn of the loop serves with an answer: each may open a connection. */
const ANSWERS_A_TURN = 16
/** Not failures of a name server: it answered, or the question was invalid. */
const NO_SUCH_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EBADQUERY'])

/** Parent domains of the agent's own questions: they have different operators and every name server can reach them. */
const OWN_QUESTIONS = ['com', 'org'] as const
/** After this many unanswered ones in a row, name servers count as failing. */
const UNANSWERED = 2

/** `servers` (none: the system's), `timeout` of each try, `againMs` between the agent's own questions. Milliseconds. */
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
    // Without a hosts file there are no local names.
  }
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const alias of aliases) names.set(alias.toLowerCase(), [...(names.get(alias.toLowerCase()) ?? []), address])
  }
  return names
}

/** Answers by question. @param maxSize approximate limit in bytes */
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
 * The agent's resolver: the hosts file, then DNS, with TTLs, a bounded cache, one question at a time for a name, and turns for
 * users. getaddrinfo would need the thread pool, where names that never answer would block writes of the state.
 * `localhost` never leaves the machine.
 */
export class CachingResolver {
  readonly #cache = answerCache(MAX_CACHED_BYTES)
  readonly #pending = new Map<string, Question>()
  readonly #turns = new LookupTurns()
  readonly #nameServers: NameServers
  #dns: DnsResolver
  #hosts = readHosts()
  readonly figures: DnsFigures = { lookups: 0, failures: 0, milliseconds: 0, failing: 0 }
  #isAskingItself = false
  #nextOwnQuestion = -Infinity
  #closed = false

  constructor(nameServers: NameServers = systemServers) {
    this.#nameServers = nameServers
    this.#dns = openDns(nameServers)
  }

  /** Empties the cache and reads the system's configuration again. */
  reload(): void {
    this.#cache.clear()
    this.#dns = openDns(this.#nameServers)
    this.#hosts = readHosts()
  }

  /** Stops the agent's own questions. */
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
    // The name may already wait for another user, whose line may be longer. So it waits in this user's line too.
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
   * Finds out whether name servers answer at all. Customers' questions cannot show it: silent zones of one customer can make most
   * of them fail. So the agent asks for random names that no cache has and no customer controls, until one is answered.
   */
  async #judgeServers(): Promise<void> {
    if (this.#isAskingItself || performance.now() < this.#nextOwnQuestion) return
    this.#isAskingItself = true
    for (let unanswered = 0; !this.#closed && !(await this.#isAnswered(unanswered));) {
      unanswered++
      // The system's list of name servers may have changed.
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
